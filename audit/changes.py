"""Show what an entry of the audit log says about each field."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from audit.models import AuditEntry

#: The words in names of columns that are written in capitals.
CAPITALS = {"api", "cpu", "gid", "gpu", "gpus", "id", "ip", "nfs", "ssh", "uid", "uids", "url"}


@dataclass(frozen=True)
class FieldChange:
    """The change of one field. ``was`` or ``now`` is ``None`` if there was or is no value. If the
    object was created or deleted, only one of them is known, and ``is_compared`` is false."""

    name: str
    was: Any
    now: Any
    is_compared: bool

    @property
    def value(self) -> Any:
        """The one value of a field that is not compared."""
        return self.was if self.now is None else self.now


def changes(entry: AuditEntry) -> Iterator[FieldChange]:
    """Every field of an entry, in the order in which they were recorded."""
    is_compared = bool(entry.before and entry.after)
    for name in entry.before | entry.after:
        was, now = entry.before.get(name), entry.after.get(name)
        yield FieldChange(_label(name), was, now, is_compared)


def _label(name: str) -> str:
    """The name of a column in words. A path into a document is shown as it is."""
    if not name.replace("_", "").isalpha() or not name.islower():
        return name
    words = (word.upper() if word in CAPITALS else word for word in name.split("_"))
    label = " ".join(words)
    return label[0].upper() + label[1:]
