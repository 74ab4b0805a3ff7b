"""List items: reading them from a POST into the document, and showing them as cells.

An item may have parts without a cell, which must survive editing. They stay in the stored document,
and the page carries a digest to find them again. Position or values would not do: another page may
have moved the items meanwhile, and every cell may be changed.
"""

import copy
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.crypto import salted_hmac

from core.forms import nested
from core.forms.field import SECRETS, Cell, Field, Input, Option, Values

WHOLE = re.compile(r"^[+-]?[0-9]{1,12}$")
NUMBER = re.compile(r"^[0-9]{1,12}(\.[0-9]{1,6})?$")
AMOUNT = re.compile(r"^([0-9.]+)([A-Za-z]+)$")
UNITS: tuple[Option, ...] = (
    ("M", "MB"),
    ("G", "GB"),
    ("T", "TB"),
    ("Mi", "MiB"),
    ("Gi", "GiB"),
    ("Ti", "TiB"),
)
DEFAULT_UNIT = "G"
REMAINDER = "rest"  # the hidden input with the digest; its presence also says that the item exists
REMOVE = "DELETE"  # checkbox that removes the item without JavaScript
SALT = "core.forms.items"
MOST_ITEMS = 200
SPARE = 3  # extra blank inputs in place of the add button, without JavaScript
BARRED = ":barred"  # suffix of a list of options that are shown but cannot be selected
Offered = Mapping[str, list[Option]]


@dataclass
class ShownCell:
    """A cell with its value. ``id`` is also the name of the input.

    ``hidden``: not asked in this item. ``warnings`` and ``note`` are shown but refuse nothing.
    ``is_choice``: drawn as a select in this item, whatever the cell's type. ``barred`` are options
    that cannot be selected. ``names`` are the values of an ``Input.NAMES`` cell. A ``locked`` cell
    keeps its value.
    """

    cell: Cell
    id: str
    value: str = ""
    on: bool = False
    unit: str = DEFAULT_UNIT
    options: list[Option] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    note: str = ""
    hidden: bool = False
    is_choice: bool = False
    barred: list[str] = field(default_factory=list)
    suggests: str = ""
    names: list[str] = field(default_factory=list)
    locked: bool = False

    @property
    def has_lines(self) -> bool:
        """Whether it is drawn as several lines: a browser drops line breaks in a single one."""
        keeps_lines = self.cell.input is Input.TEXT and not self.cell.strip
        return self.cell.input is Input.LINES or (keeps_lines and "\n" in self.value)

    @property
    def spare(self) -> range:
        """Indexes of extra inputs for names, without JavaScript."""
        return range(len(self.names), len(self.names) + SPARE)

    @property
    def units(self) -> tuple[Option, ...]:
        return UNITS if self.unit in dict(UNITS) else (*UNITS, (self.unit, self.unit))

    @property
    def is_noted(self) -> bool:
        return bool(self.errors or self.warnings or self.note)


@dataclass
class ShownItem:
    """An item with its cells. ``rest`` is the digest of its parts without a cell, posted as
    ``rest_id``."""

    prefix: str
    rest: str
    cells: list[ShownCell]
    note: str = ""

    @property
    def rest_id(self) -> str:
        return f"{self.prefix}-{REMAINDER}"

    @property
    def remove_id(self) -> str:
        return f"{self.prefix}-{REMOVE}"

    @property
    def errors(self) -> list[str]:
        return [error for cell in self.cells for error in cell.errors]

    @property
    def is_noted(self) -> bool:
        return bool(self.errors or self.note)

    @property
    def is_blank(self) -> bool:
        """Whether nothing has been entered yet."""
        counted = [
            shown for shown in self.cells if shown.cell.fills and shown.cell.input is not Input.FLAG
        ]
        return not any(shown.value for shown in counted)

    @property
    def by_slug(self) -> dict[str, ShownCell]:
        """Cells by slug, for templates with their own layout."""
        return {shown.cell.slug: shown for shown in self.cells}

    def cell(self, declared: Cell | None) -> ShownCell:
        """Return a cell by its declaration; the first one for ``None``."""
        return next((shown for shown in self.cells if shown.cell is declared), self.cells[0])


def read_items(item: Field, stored: Iterable[Any], posted: Mapping[str, str]) -> list[Any]:
    """Return the posted items in order, including blank ones. Wrong values are kept as typed.

    Parts without a cell are taken from ``stored``, the list in the document.
    """
    remainders: dict[str, list[Values]] = {}
    for old in stored:
        if item.includes(old) and (rest := _remainder(item, old)):
            remainders.setdefault(digest(rest), []).append(rest)
    prefixes = [f"{item.name}-{number}" for number in _item_numbers(item, posted)]
    return [
        _read_item(item, prefix, posted, remainders)
        for prefix in prefixes
        if posted.get(f"{prefix}-{REMOVE}") != "on"
    ]


def _item_numbers(item: Field, posted: Mapping[str, str]) -> list[int]:
    parts = "|".join(re.escape(slug) for slug in (REMAINDER, *(cell.slug for cell in item.cells)))
    pattern = re.compile(rf"^{re.escape(item.name)}-([0-9]{{1,4}})-(?:{parts})$")
    return sorted({int(match[1]) for key in posted if (match := pattern.match(key))})[:MOST_ITEMS]


def _read_item(
    item: Field, prefix: str, posted: Mapping[str, str], remainders: dict[str, list[Values]]
) -> Values | str:
    if item.is_plain:
        return str(_cell_value(item.cells[0], prefix, posted))
    same = remainders.get(posted.get(f"{prefix}-{REMAINDER}", ""), [])
    values: Values = {key: value for key, value in item.mark if value}
    if same:
        values |= same.pop(0)  # each remainder is used once, so that no item gets another's
    for cell in item.cells:
        value = _cell_value(cell, prefix, posted)
        nested.put(values, cell.key, value, empty=item.input is Input.ROWS)
    return item.repack.pack(values) if item.repack else values


def _cell_value(cell: Cell, prefix: str, posted: Mapping[str, str]) -> Any:
    """The value to store for a cell; ``None`` for a flag with its default value."""
    name = f"{prefix}-{cell.slug}"
    value = posted.get(name, "")
    value = value.strip() if cell.strip else value.replace("\r\n", "\n")
    if cell.input is Input.NAMES:
        return _posted_names(name, posted)
    if cell.input is Input.FLAG:
        on = value == "on"
        return None if on == cell.initial else on
    if cell.input is Input.WHOLE and WHOLE.match(value):
        return int(value)
    if cell.input is Input.AMOUNT and NUMBER.match(value):
        unit = posted.get(f"{name}-unit", DEFAULT_UNIT)
        return value + (unit if unit.isalpha() else "")[:2]
    return value


def _posted_names(prefix: str, posted: Mapping[str, str]) -> list[str]:
    """The posted names in order, without empty ones."""
    pattern = re.compile(rf"^{re.escape(prefix)}-([0-9]{{1,4}})$")
    numbers = sorted({int(match[1]) for key in posted if (match := pattern.match(key))})[
        :MOST_ITEMS
    ]
    names = (posted.get(f"{prefix}-{number}", "").strip() for number in numbers)
    return [name for name in names if name]


def show_items(item: Field, stored: Iterable[Any], offered: Offered) -> list[ShownItem]:
    """The items of a list that belong to the field, ready to draw."""
    values = [value for value in stored if item.includes(value)]
    return [
        show_item(item, f"{item.name}-{number}", value, offered)
        for number, value in enumerate(values)
    ]


def show_item(item: Field, prefix: str, value: Any, offered: Offered) -> ShownItem:
    """One item, ready to draw; the names of its inputs start with ``prefix``."""
    values = _unpack(item, value)
    cells = []
    for cell in item.cells:
        cell_value = nested.get(values, cell.key) if cell.key else value
        shown = _show_cell(cell, f"{prefix}-{cell.slug}", cell_value)
        shown.value, shown.options = select_option(shown.value, cell, offered)
        barred = offered.get(f"{cell.choices}{BARRED}", ())
        shown.barred = [label for option, label in barred if option != shown.value]
        cells.append(shown)
    rest = _remainder(item, value)
    return ShownItem(prefix, digest(rest) if rest else "", cells)


def _show_cell(cell: Cell, name: str, value: Any) -> ShownCell:
    shown = ShownCell(cell, name)
    if cell.input is Input.FLAG:
        shown.on = value if isinstance(value, bool) else cell.initial
        shown.value = "on" if shown.on and cell.options else ""
        return shown
    if cell.input is Input.NAMES:
        shown.names = [str(name) for name in value or ()]
        shown.value = ", ".join(shown.names)
        return shown
    shown.value = "" if value is None or cell.input in SECRETS else str(value)
    if cell.input is Input.AMOUNT and (amount := AMOUNT.match(shown.value)):
        shown.value, shown.unit = amount.groups()
    return shown


def select_option(value: str, declared: Cell | Field, offered: Offered) -> tuple[str, list[Option]]:
    """Return the selected value and all options. A value that is not offered is added, so that it
    stays visible, with the reason where one is known. The empty option may also be given by its
    label."""
    options = [*declared.options, *offered.get(declared.choices, [])]
    if ("", value) in options:
        value = ""
    if value and value not in dict(options):
        note = f" ({declared.missing})" if declared.missing else ""
        barred = dict(offered.get(f"{declared.choices}{BARRED}", ()))
        options.append((value, barred.get(value, f"{value}{note}")))
    return value, options


def _unpack(item: Field, value: Any) -> Values:
    if not isinstance(value, dict):
        return {}
    return item.repack.unpack(value) if item.repack else value


def _remainder(item: Field, value: Any) -> Values:
    """Return the parts of an item that have no cell."""
    rest = copy.deepcopy(_unpack(item, value))
    for cell in item.cells:
        if cell.key:
            nested.put(rest, cell.key, None)
    for key, _ in item.mark:
        rest.pop(key, None)
    return rest


def digest(rest: Values) -> str:
    """A keyed digest, so that the page reveals nothing about the hidden parts."""
    text = json.dumps(rest, sort_keys=True, default=str)
    return salted_hmac(SALT, text, algorithm="sha256").hexdigest()[:32]
