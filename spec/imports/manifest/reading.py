"""Reads a manifest part by part. What is not read is refused, so that nothing is left out silently.
Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from pydantic import JsonValue

Document = dict[str, Any]
Kind = TypeVar("Kind")
NO_COUNTERPART = "has no counterpart in Trainyard; leave it out"
MOST_DIGITS = 9
KINDS_OF_VALUES = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    dict: "a mapping",
    list: "a list",
}


@dataclass(frozen=True)
class ManifestFault:
    """Something wrong, or something to know, at a dotted ``path`` of a manifest."""

    path: str
    text: str


@dataclass
class ManifestReading:
    """The parts of one manifest that were read, what was wrong with them, and what was left out."""

    faults: list[ManifestFault] = field(default_factory=list)
    notes: list[ManifestFault] = field(default_factory=list)
    parts: list["ManifestPart"] = field(default_factory=list)

    def part(self, values: Document, path: str) -> "ManifestPart":
        part = ManifestPart(values, path, self)
        self.parts.append(part)
        return part

    def all_faults(self) -> list[ManifestFault]:
        """Return all faults, including every key that was not read, unless its value is empty."""
        left = (fault for part in self.parts for fault in part.unread_faults())
        return sorted([*self.faults, *left], key=lambda fault: fault.path)


class ManifestPart:
    """A mapping in a manifest. Each key is read once; null counts as missing."""

    def __init__(self, values: Document, path: str, reading: ManifestReading) -> None:
        self.path = path
        self._reading = reading
        self._unread = dict(values)

    def __contains__(self, key: str) -> bool:
        return self._unread.get(key) is not None

    def has_value(self, key: str, value: JsonValue) -> bool:
        """Whether a key has exactly this value."""
        return bool(self._unread.get(key) == value)

    def path_of(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def refuse(self, key: str, text: str) -> None:
        self._reading.faults.append(ManifestFault(self.path_of(key), text))

    def leave_out(self, key: str, text: str) -> None:
        """Leave out a key that a workload cannot have and does not need, with a note."""
        if self._unread.pop(key, None) not in (None, "", [], {}):
            self._reading.notes.append(ManifestFault(self.path_of(key), f"is left out: {text}"))

    def unread_faults(self) -> Iterator[ManifestFault]:
        for key, value in self._unread.items():
            if value not in (None, "", [], {}):
                yield ManifestFault(self.path_of(key), NO_COUNTERPART)

    def drop(self, *keys: str) -> None:
        """Ignore keys that say nothing about a workload."""
        for key in keys:
            self._unread.pop(key, None)

    def text(self, key: str) -> str:
        return str(self._take(key, str) or "")

    def whole_number(self, key: str) -> int | None:
        return self._take(key, int)

    def flag(self, key: str) -> bool | None:
        return self._take(key, bool)

    def quantity(self, key: str) -> str:
        """Read a quantity, which may also be a number, as a text."""
        value = self._unread.pop(key, None)
        if value is None or (isinstance(value, str | int | float) and not isinstance(value, bool)):
            return "" if value is None else str(value)
        self.refuse(key, "must be a quantity such as 500m or 2Gi")
        return ""

    def part(self, key: str) -> "ManifestPart":
        """Read a mapping; an empty one if there is none."""
        return self._reading.part(self._take(key, dict) or {}, self.path_of(key))

    def parts(self, key: str) -> list["ManifestPart"]:
        return [
            self._reading.part(item, f"{self.path_of(key)}.{number}")
            for number, item in self._items(key, dict)
        ]

    def texts(self, key: str) -> list[str]:
        return [item for _, item in self._items(key, str)]

    def whole_numbers(self, key: str) -> list[int]:
        return [item for _, item in self._items(key, int)]

    def names(self) -> list[str]:
        return list(self._unread)

    def require_one_of(self, key: str, *choices: JsonValue) -> None:
        """Read a key that offers no choice in Trainyard: it must have one of these values, or be
        missing."""
        value = self._unread.pop(key, None)
        if value not in (None, "", *choices):
            words = [str(it).lower() if isinstance(it, bool) else str(it) for it in choices]
            self.refuse(key, f"can only be {' or '.join(words)} here")

    def _take(self, key: str, kind: type[Kind]) -> Kind | None:
        value = self._unread.pop(key, None)
        if value is None or _has_type(value, kind):
            return cast("Kind | None", value)
        self.refuse(key, f"must be {KINDS_OF_VALUES[kind]}")
        return None

    def _items(self, key: str, kind: type) -> Iterator[tuple[int, Any]]:
        for number, item in enumerate(self._take(key, list) or ()):
            if _has_type(item, kind):
                yield number, item
            else:
                self.refuse(f"{key}.{number}", f"must be {KINDS_OF_VALUES[kind]}")


def _has_type(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def parse_number(text: str) -> int | None:
    """Return a whole number of at most 9 digits; ``None`` for anything else."""
    return int(text) if len(text) <= MOST_DIGITS and text.isdecimal() else None


def without_empty(document: Document) -> Document:
    """Return the document without empty values. False and zero are values, and stay."""
    return {key: value for key, value in document.items() if value not in (None, "", [], {})}
