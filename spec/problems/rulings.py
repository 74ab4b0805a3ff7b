"""Rulings about a field by somebody else than the person who fills it in."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FieldRuling:
    """A ruling. ``source`` says whose it is: ``template base``. ``why`` is the reason, if one was
    given. A ``hidden`` field is also locked."""

    locked: bool
    required: bool
    hidden: bool
    source: str
    why: str = ""

    @property
    def sentence(self) -> str:
        """``Locked by template base: one image for all.``"""
        verb = "Locked" if self.locked else "Required"
        return f"{verb} by {self.source}{self.reason}."

    @property
    def reason(self) -> str:
        return f": {self.why.rstrip('.')}" if self.why else ""
