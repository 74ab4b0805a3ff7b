"""Rulings about a field by somebody else than the person who fills it in."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AllowedValue:
    """A value that a field may have, and what people read for it."""

    value: Any
    label: str


@dataclass(frozen=True)
class FieldRuling:
    """What templates and policies say about one field together. ``source`` says whose it is:
    ``template base``. ``why`` is the reason, if one was given.

    A ``locked`` field keeps its value; a ``hidden`` one is locked and not shown. ``min`` and
    ``max`` are the bounds as their policy writes them. ``options`` is empty if every value is
    allowed. Without ``may_add`` a list has only the items it has by default, of which those in
    ``locked_items``, by their key, stay as they are.
    """

    locked: bool = False
    required: bool = False
    hidden: bool = False
    source: str = ""
    why: str = ""
    min: Any = None
    max: Any = None
    step: Any = None
    options: tuple[AllowedValue, ...] = ()
    starts_with: str = ""
    may_add: bool = True
    locked_items: frozenset[str] = frozenset()

    @property
    def sentence(self) -> str:
        """``Locked by template base: one image for all.``"""
        if self.locked:
            verb = "Locked"
        elif self.required:
            verb = "Required"
        else:
            verb = "Ruled"
        return f"{verb} by {self.source}{self.reason}."

    @property
    def reason(self) -> str:
        return f": {self.why.rstrip('.')}" if self.why else ""
