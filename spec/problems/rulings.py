"""What is ruled of a field by somebody else than who fills it in."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FieldRuling:
    """``source`` says who ruled it: ``template base``. ``why`` is their reason, if they gave one.
    What is ``hidden`` is locked as well: nobody is asked for it."""

    locked: bool
    required: bool
    hidden: bool
    source: str
    why: str = ""

    @property
    def words(self) -> str:
        """``Locked by template base: one image for all.``"""
        verb = "Locked" if self.locked else "Required"
        return f"{verb} by {self.source}{self.reason}."

    @property
    def reason(self) -> str:
        return f": {self.why.rstrip('.')}" if self.why else ""
