"""What an input of a form is: a field, and in a list of things with several parts its cells."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

Values = dict[str, Any]  # a document, or a part of one, under its wire names
Path = tuple[str | int, ...]
Option = tuple[str, str]  # value, label; of a cell, the empty value is what holds unless chosen


class Input(StrEnum):
    """What a field or a cell holds, and so what it looks like."""

    TEXT = "text"
    LINES = "lines"  # a text of several lines
    SCRIPT = "script"  # a list of texts, one a line
    SECRET = "secret"  # noqa: S105 -- an input whose value goes out once and never comes back
    SECRET_LINES = "secret_lines"  # noqa: S105 -- the same, of several lines
    FILE = "file"  # one that is uploaded; the form has it, no document does
    WHOLE = "whole"
    NUMBER = "number"  # with a fraction
    SELECT = "select"
    MANY = "many"  # several of a list
    BOXES = "boxes"  # the same, each with a box
    RADIO = "radio"  # one of a few, all of which are seen
    MAYBE = "maybe"  # yes, no, or not given
    FLAG = "flag"  # true or false; shown as a box, or as a choice of two
    AMOUNT = "amount"  # a number and a unit, kept as a quantity
    DURATION = "duration"  # a number and a unit, kept as seconds
    CARDS = "cards"  # one of a few cards
    NAMES = "names"  # of a cell: a list of texts, each in an input of its own
    ROWS = "rows"  # a list whose items stand on a line each
    ITEMS = "items"  # a list whose items have room


LISTS = {Input.ROWS, Input.ITEMS}
SECRETS = {Input.SECRET, Input.SECRET_LINES}


@dataclass(frozen=True)
class Cell:
    """One part of an item. ``key`` is its wire path in the item; empty: the item is the value.

    ``choices`` names a list that is known only when the form is shown, ``missing`` is what is said
    of a value that is not in it. ``initial`` is what holds where nothing is given, and what is
    therefore never kept. ``also`` are paths whose problems it shows beside its own. An item is
    blank while no cell that ``fills`` it holds anything. While someone types in it, the
    page named ``suggests`` is asked how it may go on. One that ``redraws`` has its item drawn
    again when it changes, for other cells depend on it. ``adds`` is what the button for another
    name says, by the choice in the item that it is for.
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
        return (self.path, *map(_steps, self.also))


def _steps(key: str) -> Path:
    return tuple(key.split("."))


@dataclass(frozen=True)
class Repack:
    """Where the cells of an item are not its wire names: ``unpack`` makes a mapping of cells (and
    of what no cell shows) of an item, ``pack`` an item of such a mapping."""

    unpack: Callable[[Values], Values]
    pack: Callable[[Values], Values]


@dataclass(frozen=True)
class Field:
    """``key`` is the document's wire path, below ``within`` where there is such a part.

    ``unit`` is the one to offer for a duration that is not given. ``add`` is the label of the
    button for another item, and ``mark`` what its items hold that shows nowhere: of two fields over
    over one list each has the items with its mark, and the second an ``alias`` for its inputs. Of
    ``ordered`` items the first is the best. ``also`` are paths whose problems it shows beside its
    own, ``initial`` is whether a flag holds where nothing is given. What is ``literal`` is taken
    as it is typed: a browser neither completes it nor minds its spelling. A list that ``inherits``
    shows the items that are there unless one of its own replaces them. Where it is ``single`` the
    document holds one item as it is, and no list of them.
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
        """Of the input, and its id; items add ``-0-name`` and the like."""
        slug = self.alias or self.key.replace(".", "-")
        return f"{self.within}-{slug}" if self.within else slug

    @cached_property
    def path(self) -> Path:
        steps = tuple(self.key.split("."))
        return (self.within, *steps) if self.within else steps

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        return (self.path, *map(_steps, self.also))

    @cached_property
    def dotted(self) -> str:
        """The first key below ``within``, whatever it holds, with a dot between the two."""
        return ".".join(str(step) for step in self.path[: 2 if self.within else 1])

    @property
    def is_list(self) -> bool:
        return self.input in LISTS

    @property
    def plain(self) -> bool:
        """Its items are values without parts."""
        return self.is_list and not self.cells[0].key

    @property
    def blank(self) -> Values | str:
        """A new item."""
        return "" if self.plain else {key: value for key, value in self.mark if value}

    def holds(self, item: object) -> bool:
        """Whether an item of the list belongs to this field."""
        if self.plain:
            return isinstance(item, str)
        return isinstance(item, dict) and all(
            item.get(key, False) == value for key, value in self.mark
        )

    def cell_of(self, path: Path) -> Cell | None:
        """The cell that shows a problem of the item at ``path``, an index and what follows."""
        rest = path[len(self.path) + (0 if self.single else 1) :]
        for cell in self.cells:
            if any(rest[: len(its)] == its for its in cell.paths):
                return cell
        return next((cell for cell in self.cells if cell.path[: len(rest)] == rest), None)
