"""What a model field offers.

A field of the models takes a function that answers its choices: a migration then names the
function, and a new value of an enumeration makes none.
"""

from collections.abc import Iterable
from enum import StrEnum

Choices = list[tuple[str, str]]


def values_of(enumeration: Iterable[StrEnum]) -> Choices:
    """Each member under its own value."""
    return [(member.value, member.value) for member in enumeration]
