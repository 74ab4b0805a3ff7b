"""Numbers that a training reports. JSON has no NaN and no infinity, so these are stored by name."""

from collections.abc import Mapping

#: Stored name and text for people.
NOT_FINITE = {"NaN": "NaN", "Infinity": "∞", "-Infinity": "−∞"}
LARGEST = 1e300  # beyond it sums and axes overflow
Stored = float | str
NUMBER = (int, float)  # a union of the types would be made anew for each of many numbers


def number_to_store(value: float) -> Stored:
    """Return a number as it is stored: a float, or the name of one that is not finite."""
    if value != value:
        return "NaN"
    if abs(value) < LARGEST:
        return float(value)
    return "Infinity" if value > 0 else "-Infinity"


def finite_value(stored: object) -> float | None:
    """Return a stored number; ``None`` if it is not finite, or not there."""
    return stored if isinstance(stored, NUMBER) else None


def text_of_number(stored: Stored) -> str:
    """Return a stored number that is not finite as text for people."""
    return NOT_FINITE.get(str(stored), str(stored))


def follow_not_finite(
    since: Mapping[str, int], values: Mapping[str, Stored | None], step: int
) -> dict[str, int]:
    """Return since which step each metric has not been finite, after a further sample."""
    following = dict(since)
    for name, value in values.items():
        if value in NOT_FINITE:
            following.setdefault(name, step)
        else:
            following.pop(name, None)
    return following
