"""Lengths of time as a number and a unit, and as the seconds that a spec holds."""

import re
from decimal import Decimal
from typing import Any

UNITS = {"sec": 1, "min": 60, "hours": 3600, "days": 86_400}
NUMBER = re.compile(r"^[+-]?[0-9]{1,12}(\.[0-9]{1,6})?$")


def to_seconds(number: str, unit: str) -> int | str:
    """Seconds, or the words as they were typed where they are no whole number of seconds."""
    if unit in UNITS and NUMBER.match(number):
        seconds = Decimal(number) * UNITS[unit]
        if seconds == int(seconds):
            return int(seconds)
    return f"{number} {unit}"


def split(value: Any, *, unit: str = "sec") -> tuple[str, str]:
    """Number and unit to show for a value of :func:`to_seconds`, in the largest unit that fits.

    ``unit`` is the one to offer where there is no value.
    """
    if value in (None, ""):
        return "", unit
    if isinstance(value, int):
        fitting = (unit for unit, size in reversed(UNITS.items()) if value and value % size == 0)
        unit = next(fitting, "sec")
        return str(value // UNITS[unit]), unit
    number, _, typed = str(value).rpartition(" ")
    return (number, typed) if typed in UNITS else (str(value), "sec")
