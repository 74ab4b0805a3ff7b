"""What an input of the wizard is: a field, and in a list of things with several parts its cells."""

from dataclasses import dataclass
from enum import StrEnum

from spec.draft import Values
from spec.errors import Path

SETUP, WORKERS, MASTER = 1, 2, 3  # the pages
Option = tuple[str, str]  # value, label; of a cell, the empty value is what holds unless chosen


class Kind(StrEnum):
    CHOICE = "choice"  # one of a few, kept as an attribute of the draft
    TEXT = "text"
    WHOLE = "whole"
    DURATION = "duration"  # a number and a unit, kept as seconds
    SELECT = "select"
    ROWS = "rows"  # names with values
    ITEMS = "items"  # things with several parts, each a cell


LISTS = {Kind.ROWS, Kind.ITEMS}


class Part(StrEnum):
    """What a cell holds."""

    TEXT = "text"
    WHOLE = "whole"
    SELECT = "select"
    FLAG = "flag"  # true or false; shown as a box, or as a choice of two
    AMOUNT = "amount"  # a number and a unit, kept as a quantity


@dataclass(frozen=True)
class Cell:
    """One part of an item. ``key`` is its wire path in the item; empty: the item is the value.

    ``choices`` names a list that the cluster gives (:mod:`workloads.forms.offers`). ``initial`` is
    what holds where nothing is given, and what is therefore never kept.
    """

    key: str
    label: str
    part: Part = Part.TEXT
    options: tuple[Option, ...] = ()
    choices: str = ""
    initial: bool = False
    required: bool = False
    placeholder: str = ""

    @property
    def slug(self) -> str:
        return self.key.replace(".", "-") or "item"

    @property
    def path(self) -> Path:
        return tuple(self.key.split(".")) if self.key else ()


@dataclass(frozen=True)
class Field:
    """``key`` is the draft's wire path. ``role`` is ``worker``, ``master`` or empty.

    ``section`` is where on the page it stands. ``unit`` is the one to offer for a duration that is
    not given. Only trainings of ``framework`` have the field; empty: all. ``add`` is the label of
    the button for another item, and ``mark`` what its items hold that shows nowhere: of two fields
    over one list each has the items with its mark, and the second an ``alias`` for its inputs.
    Of ``ordered`` items the first is the best.
    """

    key: str
    label: str
    page: int
    kind: Kind
    role: str = ""
    hint: str = ""
    unit: str = "sec"
    section: str = ""
    framework: str = ""
    placeholder: str = ""
    options: tuple[Option, ...] = ()
    choices: str = ""
    cells: tuple[Cell, ...] = ()
    add: str = ""
    mark: tuple[tuple[str, bool], ...] = ()
    alias: str = ""
    ordered: bool = False

    @property
    def name(self) -> str:
        """Of the input, and its id; rows add ``-0-name`` and the like."""
        slug = self.alias or self.key.replace(".", "-")
        return f"{self.role}-{slug}" if self.role else slug

    @property
    def path(self) -> Path:
        steps = tuple(self.key.split("."))
        return (self.role, *steps) if self.role else steps

    @property
    def dotted(self) -> str:
        """As a plan's origins call it: the first key below the role, whatever it holds."""
        return ".".join(str(step) for step in self.path[: 2 if self.role else 1])

    @property
    def plain(self) -> bool:
        """Its items are values without parts."""
        return self.kind is Kind.ITEMS and not self.cells[0].key

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
        rest = path[len(self.path) + 1 :]
        for cell in self.cells:
            if rest[: len(cell.path)] == cell.path:
                return cell
        return next((cell for cell in self.cells if cell.path[: len(rest)] == rest), None)
