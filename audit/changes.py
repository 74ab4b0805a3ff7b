"""What an entry says of one field, for people to read."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from audit.models import AuditEntry

#: Of the words in the names of columns, those that are written in capitals.
CAPITALS = {"api", "cpu", "gid", "gpu", "gpus", "id", "ip", "nfs", "ssh", "uid", "uids", "url"}


@dataclass(frozen=True)
class FieldChange:
    """``was`` and ``now`` are ``None`` where there was or is nothing. One alone is what the object
    was made with, or was when it was deleted: ``is_compared`` tells that from a change."""

    name: str
    was: Any
    now: Any
    is_compared: bool

    @property
    def value(self) -> Any:
        """Of what is not compared."""
        return self.was if self.now is None else self.now


def changes(entry: AuditEntry) -> Iterator[FieldChange]:
    """Field by field, in the order in which they were recorded."""
    is_compared = bool(entry.before and entry.after)
    for name in entry.before | entry.after:
        was, now = entry.before.get(name), entry.after.get(name)
        yield FieldChange(_label(name), was, now, is_compared)


def _label(name: str) -> str:
    """The name of a column in words. A path into a document stays as it is there."""
    if not name.replace("_", "").isalpha() or not name.islower():
        return name
    words = (word.upper() if word in CAPITALS else word for word in name.split("_"))
    label = " ".join(words)
    return label[0].upper() + label[1:]
