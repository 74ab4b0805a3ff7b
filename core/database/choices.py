"""Choices of model fields as functions.

A migration then refers to the function by name, so a new enumeration member needs no migration.
"""

from collections.abc import Iterable
from enum import StrEnum

Choices = list[tuple[str, str]]


def values_of(enumeration: Iterable[StrEnum]) -> Choices:
    """Choices where each member's value is also its label."""
    return [(member.value, member.value) for member in enumeration]
