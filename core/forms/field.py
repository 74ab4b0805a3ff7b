"""Declarations of a form: its fields, and the cells of list items."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

EXCLUDE = "exclude"  # true in a list item that only removes an inherited one
Values = dict[str, Any]  # a document, or a part of one, under its wire names
Path = tuple[str | int, ...]
Option = tuple[str, str]  # value and label; in a cell, the empty value stands for the default


class Input(StrEnum):
    """The type of a field or cell, which decides how it is read and drawn."""

    TEXT = "text"
    LINES = "lines"  # a text of several lines
    SCRIPT = "script"  # a list of texts, one a line
    SECRET = "secret"  # noqa: S105 -- a value that is posted once and never shown again
    SECRET_LINES = "secret_lines"  # noqa: S105 -- the same, of several lines
    FILE = "file"  # an upload; available in ``Form.files``, not in the document
    WHOLE = "whole"
    NUMBER = "number"  # with a fraction
    SELECT = "select"
    MANY = "many"  # several of a list
    BOXES = "boxes"  # the same, each with a box
    RADIO = "radio"  # one of a few, all visible
    MAYBE = "maybe"  # yes, no, or not given
    FLAG = "flag"  # true or false; a checkbox, or a select with two options
    AMOUNT = "amount"  # a number and a unit, kept as a quantity
    DURATION = "duration"  # a number and a unit, kept as seconds
    CARDS = "cards"  # one of a few cards
    NAMES = "names"  # of a cell: a list of texts, each in an input of its own
    ROWS = "rows"  # a list whose items take one line each
    ITEMS = "items"  # a list whose items take several lines each


LISTS = {Input.ROWS, Input.ITEMS}
SECRETS = {Input.SECRET, Input.SECRET_LINES}


@dataclass(frozen=True)
class Cell:
    """One input of a list item.

    ``key`` is the wire path within the item; if it is empty, the item itself is the value.
    ``choices`` names options that are only known when the form is shown, and ``missing`` describes
    a value that is not among them. ``initial`` is the default of a flag, which is not stored.
    ``also`` are further paths whose problems are shown here. An item counts as blank while no cell
    with ``fills`` has a value. ``suggests`` names the URL that completes what is typed.
    ``redraws``: other cells depend on this one, so the item is redrawn when it changes. ``adds``
    labels the button for another name, by the option that is selected in the item.
    """

    key: str
    label: str
    input: Input = Input.TEXT
    options: tuple[Option, ...] = ()
    choices: str = ""
    initial: bool = False
    required: bool = False
    placeholder: str = ""
    strip: bool = True
    also: tuple[str, ...] = ()
    fills: bool = True
    missing: str = ""
    suggests: str = ""
    redraws: bool = False
    adds: tuple[Option, ...] = ()

    @property
    def slug(self) -> str:
        return self.key.replace(".", "-") or "item"

    @property
    def path(self) -> Path:
        return tuple(self.key.split(".")) if self.key else ()

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.path, *map(_split_key, self.also))


def _split_key(key: str) -> Path:
    return tuple(key.split("."))


@dataclass(frozen=True)
class Repack:
    """Converts items whose cells differ from the wire names. ``unpack`` turns an item into a
    mapping with the keys of cells and of parts without a cell; ``pack`` does the reverse."""

    unpack: Callable[[Values], Values]
    pack: Callable[[Values], Values]


@dataclass(frozen=True)
class Field:
    """A field of a form.

    ``key`` is the wire path in the document, below ``within`` if that is set. ``unit`` is
    preselected for a duration. ``choices``, ``missing``, ``initial`` and ``also`` are as in
    :class:`Cell`. ``literal`` turns off completion and spell checking. For lists: ``add`` labels
    the button for another item. ``mark`` are flags that items of this field carry: two fields can
    share one list in the document, and the second has an ``alias`` for its input names. In an
    ``ordered`` list the first item is preferred. ``inherits`` also shows items that apply unless
    one of the list replaces them. A ``single`` list is stored as one item, not as a list.
    """

    key: str
    label: str
    input: Input = Input.TEXT
    hint: str = ""
    within: str = ""
    unit: str = "sec"
    placeholder: str = ""
    options: tuple[Option, ...] = ()
    choices: str = ""
    cells: tuple[Cell, ...] = ()
    add: str = ""
    mark: tuple[tuple[str, bool], ...] = ()
    alias: str = ""
    ordered: bool = False
    repack: Repack | None = None
    also: tuple[str, ...] = ()
    required: bool = False
    initial: bool = False
    missing: str = ""
    literal: bool = False
    inherits: bool = False
    single: bool = False

    @cached_property
    def name(self) -> str:
        """Name and id of the input; items append ``-0-name`` and the like."""
        slug = self.alias or self.key.replace(".", "-")
        return f"{self.within}-{slug}" if self.within else slug

    @cached_property
    def path(self) -> Path:
        steps = tuple(self.key.split("."))
        return (self.within, *steps) if self.within else steps

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        return (self.path, *map(_split_key, self.also))

    @cached_property
    def dotted_key(self) -> str:
        """``within`` and the first key below it, with a dot between them."""
        return ".".join(str(step) for step in self.path[: 2 if self.within else 1])

    @property
    def is_list(self) -> bool:
        return self.input in LISTS

    @property
    def is_plain(self) -> bool:
        """Whether items are plain values, not mappings."""
        return self.is_list and not self.cells[0].key

    @property
    def blank_item(self) -> Values | str:
        """The value of a new item."""
        return "" if self.is_plain else {key: value for key, value in self.mark if value}

    def includes(self, item: object) -> bool:
        """Whether an item of the list belongs to this field. One that removes an inherited item is
        no item of its own."""
        if self.is_plain:
            return isinstance(item, str)
        return self._has_marks(item) and not self.removes(item)

    def removes(self, item: object) -> bool:
        """Whether an item of the list removes an inherited one of this field."""
        return isinstance(item, dict) and item.get(EXCLUDE) is True and self._has_marks(item)

    def _has_marks(self, item: object) -> bool:
        return isinstance(item, dict) and all(
            item.get(key, False) == value for key, value in self.mark
        )

    def cell_of(self, path: Path) -> Cell | None:
        """Return the cell that shows a problem at ``path``, which contains the index of an item."""
        rest = path[len(self.path) + (0 if self.single else 1) :]
        for cell in self.cells:  # a cell at the path or above it; else one below it
            if any(rest[: len(path)] == path for path in cell.paths):
                return cell
        return next((cell for cell in self.cells if cell.path[: len(rest)] == rest), None)
