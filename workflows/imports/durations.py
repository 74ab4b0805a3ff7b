"""Durations of workflow files: seconds, ``10h``, or ISO 8601 such as ``PT10M``."""

import math
import re
from typing import Annotated, Any

from pydantic import BeforeValidator

UNITS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6}
SIMPLE = re.compile(r"([0-9]{1,12})(d|h|ms|m|us|s)")
ISO = re.compile(
    r"P(?:([0-9]{1,9})D)?(?:T(?=[0-9])(?:([0-9]{1,9})H)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9})S)?)?"
)
MOST_SECONDS = 10 * 366 * 86_400


def parse_duration(value: Any) -> int:
    """Return whole seconds, at least 1. Raises ``ValueError``, which explains the format."""
    seconds = _seconds_of(value)
    if seconds is None:
        raise ValueError(
            f"{str(value)[:40]!r} is not a duration; write seconds, or one number with a unit "
            "(d, h, m, s, ms, us) such as 10h"
        )
    if not 0 < seconds <= MOST_SECONDS:
        raise ValueError("must be more than 0 seconds, and at most 10 years")
    return math.ceil(seconds)


def _seconds_of(value: Any) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    text = str(value) if isinstance(value, str) else ""
    simple = SIMPLE.fullmatch(text)
    if simple:
        return int(simple[1]) * UNITS[simple[2]]
    iso = ISO.fullmatch(text)
    if iso and any(iso.groups()):
        counts = [int(count or 0) for count in iso.groups()]
        return sum(count * UNITS[unit] for count, unit in zip(counts, "dhms", strict=True))
    return None


Duration = Annotated[int, BeforeValidator(parse_duration)]
