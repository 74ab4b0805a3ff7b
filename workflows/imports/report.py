"""What an import tells about a file, besides its mistakes."""

from dataclasses import dataclass
from enum import StrEnum


class NoteKind(StrEnum):
    """What became of a line of the file."""

    MAPPED = "mapped"
    IGNORED = "ignored"
    DIFFERS = "differs"

    @property
    def label(self) -> str:
        """The word that a report shows for such notes."""
        return {
            NoteKind.MAPPED: "Mapped",
            NoteKind.IGNORED: "Ignored",
            NoteKind.DIFFERS: "Differs from OSMO",
        }[self]


@dataclass(frozen=True)
class ImportNote:
    """A note about a line, counted from 1; 0 stands for the entire file."""

    line: int
    kind: NoteKind
    text: str
