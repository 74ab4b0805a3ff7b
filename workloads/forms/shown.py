"""What the templates of the wizard read: fields with their values, folds, steps, what is open."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from workloads.forms.cells import ShownItem
from workloads.forms.kinds import Field, Kind, Option


@dataclass
class Row:
    """One name and value; ``overrides`` says what of the environment it replaces. A variable may
    have another ``source``: the value is then a name, and there may be a ``key`` in it."""

    name: str
    value: str
    errors: list[str] = dataclasses.field(default_factory=list)
    overrides: str = ""
    source: str = "value"
    key: str = ""


@dataclass
class Shown:
    """A field with what the draft holds. ``errors`` are empty until the author left the field."""

    field: Field
    value: Any = ""
    unit: str = "sec"
    rows: list[Row] = dataclasses.field(default_factory=list)
    items: list[ShownItem] = dataclasses.field(default_factory=list)
    options: list[Option] = dataclasses.field(default_factory=list)
    sources: tuple[Option, ...] = ()
    why_not: str = ""
    inherited: list[Row] = dataclasses.field(default_factory=list)
    errors: list[str] = dataclasses.field(default_factory=list)
    origin: str = ""
    ok: str = ""
    focus: bool = False

    @property
    def name(self) -> str:
        return self.field.name

    @property
    def add_label(self) -> str:
        """The button that adds a row, as Run:ai writes it."""
        return f"+{self.field.add or self.field.label.removesuffix('s').upper()}"

    @property
    def invalid(self) -> bool:
        return bool(self.errors) or any(
            [row.errors for row in self.rows] + [item.errors for item in self.items]
        )

    @property
    def is_given(self) -> bool:
        """Whether there is anything that a person entered."""
        rows = any(row.name or row.value for row in self.rows)
        return rows or bool(self.filled) or self.value not in ("", None)

    @property
    def filled(self) -> list[ShownItem]:
        return [item for item in self.items if not item.is_blank]


@dataclass(frozen=True)
class Open:
    """A problem for the summary. Only of a ``shown`` one the author was told at the field."""

    field: Field
    text: str
    address: str
    shown: bool


@dataclass(frozen=True)
class Step:
    number: int
    label: str
    errors: int
    done: bool
    current: bool
    reachable: bool


@dataclass(frozen=True)
class Fold:
    """A part of the page that opens. ``why_not``: the cluster is not for it."""

    key: str
    fields: list[Shown]
    why_not: str = ""

    @property
    def changed(self) -> int:
        """How many of its fields are not at their default; of lists, how many items."""
        return sum(len(it.filled) or 1 for it in self.fields if it.is_given)

    @property
    def invalid(self) -> bool:
        return any(it.invalid for it in self.fields)

    @property
    def by_name(self) -> dict[str, Shown]:
        """By the key of the field, for a fold with a layout of its own."""
        return {it.field.key: it for it in self.fields}

    @property
    def lists(self) -> list[Shown]:
        return [it for it in self.fields if it.field.kind is Kind.ITEMS]

    @property
    def singles(self) -> list[Shown]:
        return [it for it in self.fields if it.field.kind is not Kind.ITEMS]
