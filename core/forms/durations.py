"""Durations: a number and a unit in a form, seconds in the spec."""

import re
from decimal import Decimal
from typing import Any

UNITS = {"sec": 1, "min": 60, "hours": 3600, "days": 86_400}
NUMBER = re.compile(r"^[+-]?[0-9]{1,12}(\.[0-9]{1,6})?$")


def to_seconds(number: str, unit: str) -> int | str:
    """Return the number of seconds, or the text as typed if that is not a whole number."""
    if unit in UNITS and NUMBER.match(number):
        seconds = Decimal(number) * UNITS[unit]
        if seconds == int(seconds):
            return int(seconds)
    return f"{number} {unit}"


def split_duration(value: Any, *, unit: str = "sec") -> tuple[str, str]:
    """Invert :func:`to_seconds`: return a number and the largest unit that divides the value.
    ``unit`` is returned for an empty value."""
    if value in (None, ""):
        return "", unit
    if isinstance(value, int):
        fitting = (unit for unit, size in reversed(UNITS.items()) if value and value % size == 0)
        unit = next(fitting, "sec")
        return str(value // UNITS[unit]), unit
    number, _, typed = str(value).rpartition(" ")
    return (number, typed) if typed in UNITS else (str(value), "sec")
