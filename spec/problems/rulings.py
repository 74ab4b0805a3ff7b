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
    ``template base``. ``scopes`` are the keys of the scopes whose policies say it, such as
    ``department:3``. ``why`` is the reason, if one was given.

    A ``locked`` field keeps its value; a ``hidden`` one is locked and not shown. ``min`` and
    ``max`` are the bounds as their policy writes them. ``options`` is empty if every value is
    allowed. Without ``may_add`` a list has only the items it has by default, of which those in
    ``locked_items``, by their key, stay as they are.
    """

    locked: bool = False
    required: bool = False
    hidden: bool = False
    source: str = ""
    scopes: tuple[str, ...] = ()
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
        """``Locked by template base: one image for all.``, or ``Required, 1 to 8 by policy …``;
        empty if there is nothing to say about the field as a whole."""
        words = ["locked"] if self.locked else self._limits
        if not words:
            return ""
        text = ", ".join(words)
        return f"{text[:1].upper()}{text[1:]} by {self.source}{self.reason}."

    @property
    def _limits(self) -> list[str]:
        """Return what an unlocked field must be."""
        words = ["required"] if self.required else []
        if self.min is not None and self.max is not None:
            words.append(f"{self.min} to {self.max}")
        elif self.min is not None:
            words.append(f"at least {self.min}")
        elif self.max is not None:
            words.append(f"at most {self.max}")
        if self.step is not None:
            words.append(f"in steps of {self.step}")
        if self.options:
            words.append("limited to these options")
        if self.starts_with:
            words.append(f"starts with {self.starts_with}")
        if not self.may_add:
            words.append("no further items")
        return words

    @property
    def reason(self) -> str:
        return f": {self.why.rstrip('.')}" if self.why else ""
