"""One item of a list: from what a browser posted to the wire, and from the wire to its cells."""

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core import signing

from spec.draft import Values, is_blank
from workloads.forms import nested
from workloads.forms.kinds import Cell, Field, Option, Part

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
USUAL = "G"
Offered = Mapping[str, list[Option]]
SALT = "wizard-item"  # what an item holds beyond its cells travels signed, and comes back as it was


@dataclass
class ShownCell:
    """A cell with its value; ``id`` is also the name of its input."""

    cell: Cell
    id: str
    value: str = ""
    on: bool = False
    unit: str = USUAL
    options: list[Option] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def units(self) -> tuple[Option, ...]:
        known = dict(UNITS)
        return UNITS if self.unit in known else (*UNITS, (self.unit, self.unit))


@dataclass
class ShownItem:
    """``rest`` is what no cell shows, sealed, for the hidden input ``rest_id``."""

    rest_id: str
    rest: str
    cells: list[ShownCell]
    is_blank: bool = False

    @property
    def errors(self) -> list[str]:
        return [error for cell in self.cells for error in cell.errors]


def read(item: Field, prefix: str, posted: Mapping[str, str]) -> Values | str:
    """The item that was posted under ``prefix``; wrong values stay as they were typed."""
    if item.plain:
        return str(_posted(item.cells[0], prefix, posted))
    made = unseal(posted.get(f"{prefix}-rest", ""))
    for cell in item.cells:
        nested.put(made, cell.key, _posted(cell, prefix, posted))
    return made


def _posted(cell: Cell, prefix: str, posted: Mapping[str, str]) -> Any:
    """What to keep of a cell: nothing where it is as it would be anyway."""
    name = f"{prefix}-{cell.slug}"
    value = posted.get(name, "").replace("\0", "").strip()
    if cell.part is Part.FLAG:
        on = value == "on"
        return None if on == cell.initial else on
    if cell.part is Part.WHOLE and WHOLE.match(value):
        return int(value)
    if cell.part is Part.AMOUNT and NUMBER.match(value):
        unit = posted.get(f"{name}-unit", USUAL)
        return value + (unit if unit.isalpha() else "")[:2]
    return value


def show_all(item: Field, values: Values, offered: Offered) -> list[ShownItem]:
    """The field's items of a draft, with the ids of their inputs."""
    mine = [given for given in nested.items(values, item.key) if item.holds(given)]
    return [_show(item, number, given, offered) for number, given in enumerate(mine)]


def _show(item: Field, number: int, given: Any, offered: Offered) -> ShownItem:
    prefix = f"{item.name}-{number}"
    whole = given if isinstance(given, dict) else {}
    shown = [
        _cell(cell, f"{prefix}-{cell.slug}", nested.get(whole, cell.key) if cell.key else given)
        for cell in item.cells
    ]
    for it in shown:
        it.value, it.options = choose(it.value, it.cell, offered)
    return ShownItem(f"{prefix}-rest", _seal(item, whole), shown, is_blank=is_blank(given))


def _cell(cell: Cell, name: str, value: Any) -> ShownCell:
    shown = ShownCell(cell, name)
    if cell.part is Part.FLAG:
        shown.on = value if isinstance(value, bool) else cell.initial
        return shown
    shown.value = "" if value is None else str(value)
    if cell.part is Part.AMOUNT and (found := AMOUNT.match(shown.value)):
        shown.value, shown.unit = found.groups()
    return shown


def choose(value: str, of: Cell | Field, offered: Offered) -> tuple[str, list[Option]]:
    """The value as a choice, and the choices. One that is not offered here stays to be seen; that
    of the first option may be written out."""
    options = [*of.options, *offered.get(of.choices, [])]
    if ("", value) in options:
        value = ""
    if value and value not in dict(options):
        where = " (not on this cluster)" if of.choices else ""
        options.append((value, f"{value}{where}"))
    return value, options


def _seal(item: Field, given: Values) -> str:
    """What no cell shows, so that it is not lost. Empty for nothing."""
    rest = copy.deepcopy(given)
    for cell in item.cells:
        if cell.key:
            nested.put(rest, cell.key, None)
    return signing.dumps(rest, salt=SALT) if rest else ""


def unseal(sealed: str) -> Values:
    try:
        rest = signing.loads(sealed, salt=SALT) if sealed else {}
    except signing.BadSignature:
        return {}
    return rest if isinstance(rest, dict) else {}
