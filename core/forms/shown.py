"""A field as templates see it: its value, options and messages."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from core.forms import durations, items, nested
from core.forms.field import SECRETS, Field, Input, Option, Path, Values
from core.forms.items import Offered, ShownItem

HTML_TYPES = {
    Input.WHOLE: "number",
    Input.NUMBER: "number",
    Input.SECRET: "password",
    Input.FILE: "file",
}
ATTRIBUTES = {
    Input.SECRET: {"autocomplete": "new-password"},
    Input.SECRET_LINES: {"autocomplete": "off", "autocapitalize": "off"},
}
LITERAL_ATTRIBUTES = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"}


@dataclass
class Inherited:
    """A list item that applies unless the form replaces it, which it cannot if the item is
    ``fixed``; ``note`` says where it comes from. ``words`` describe one with more than a value."""

    name: str
    value: str
    note: str
    words: str = ""
    fixed: bool = False


@dataclass(frozen=True)
class Removed:
    """An inherited list item that the form removes; ``note`` says where it came from."""

    name: str
    note: str


@dataclass(frozen=True)
class ShownRuling:
    """What a template or policies say about a field, in the sentence ``text``. A field that it
    locks is ``strayed`` while it has another value: ``reset`` labels the button that changes it
    back. ``address`` is a page about it."""

    text: str
    locked: bool = False
    required: bool = False
    strayed: bool = False
    reset: str = ""
    address: str = ""

    @property
    def icon(self) -> str:
        if self.locked:
            return "lock"
        return "asterisk" if self.required else "ruler-measure"


@dataclass
class ShownRule:
    """The rule for a field that the author of a template chooses: ``value`` is one of ``options``,
    ``why`` is the reason. The names of both inputs start with ``id``."""

    id: str
    value: str
    why: str
    options: tuple[Option, ...]


@dataclass
class ShownField:
    """A field with its value in the document.

    ``why_not``: why the field cannot be used here. ``withheld``: parts or options of it that cannot
    be used, each with the reason. ``origin`` says where the value comes from, ``changed`` that it
    replaces another, ``ok`` what is good about it. ``rulings`` are what templates and policies say
    about the field; ``rule`` holds the inputs of a template's author. Without ``may_add`` no item
    can be added to a list. ``refused`` are options that cannot be chosen, each with the reasons.
    ``bounds`` are the attributes ``min``, ``max`` and ``step`` of a number.
    ``removed`` are inherited items that do not apply.
    A list with ``is_default`` shows the items that apply by default. ``groups`` are the options
    under headings, ``new`` the initial value of a new list item.
    """

    field: Field
    value: Any = ""
    unit: str = "sec"
    items: list[ShownItem] = dataclasses.field(default_factory=list)
    options: list[Option] = dataclasses.field(default_factory=list)
    inherited: list[Inherited] = dataclasses.field(default_factory=list)
    removed: list[Removed] = dataclasses.field(default_factory=list)
    errors: list[str] = dataclasses.field(default_factory=list)
    why_not: str = ""
    withheld: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    origin: str = ""
    changed: bool = False
    is_default: bool = False
    ok: str = ""
    focus: bool = False
    disabled: bool = False
    rulings: list[ShownRuling] = dataclasses.field(default_factory=list)
    may_add: bool = True
    refused: list[tuple[str, Any]] = dataclasses.field(default_factory=list)
    bounds: dict[str, str] = dataclasses.field(default_factory=dict)
    rule: ShownRule | None = None
    groups: list[tuple[str, list[Option]]] = dataclasses.field(default_factory=list)
    new: Values | str = dataclasses.field(default_factory=dict)
    attributes: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.field.name

    @property
    def strayed(self) -> list[ShownRuling]:
        return [ruling for ruling in self.rulings if ruling.strayed]

    @property
    def locked(self) -> bool:
        """Whether the field has the value that it must keep."""
        return any(ruling.locked for ruling in self.rulings) and not self.strayed

    @property
    def required(self) -> bool:
        """Whether a template or policy requires a value."""
        return any(ruling.required for ruling in self.rulings)

    @property
    def add_label(self) -> str:
        """Label of the button that adds an item, in Run:ai's style."""
        return f"+{self.field.add or self.field.label.removesuffix('s').upper()}"

    @property
    def is_full(self) -> bool:
        """Whether no item can be added."""
        only_one = self.field.single and bool(self.items)
        return self.locked or bool(self.why_not) or only_one

    @property
    def add_words(self) -> str:
        """Label of the same button in asset forms."""
        return f"+{self.field.add}"

    @property
    def html_type(self) -> str:
        return HTML_TYPES.get(self.field.input, "text")

    @property
    def grouped(self) -> list[tuple[str, list[Option]]]:
        return self.groups or [("", self.options)]

    @property
    def chosen(self) -> list[str]:
        """The values of the selected options."""
        if self.field.input is Input.MAYBE and isinstance(self.value, bool):
            return ["yes" if self.value else "no"]
        if self.field.input in {Input.MANY, Input.BOXES}:
            return [str(value) for value in self.value or ()]
        return [str(self.value)]

    def label_of(self, path: Path) -> str:
        """The label of the cell that shows a problem, or else of the field."""
        if not self.field.is_list or len(path) <= len(self.field.path):
            return self.field.label
        cell = self.field.cell_of(path)
        return cell.label if cell else self.field.label

    @property
    def units(self) -> list[str]:
        return list(durations.UNITS)

    @property
    def invalid(self) -> bool:
        return bool(self.errors) or any(item.errors for item in self.items)

    @property
    def is_noted(self) -> bool:
        """Whether there is a message below the field."""
        return bool(self.errors or self.ok or self.strayed or self.origin)

    @property
    def is_given(self) -> bool:
        """Whether somebody has entered a value, or removed an inherited item."""
        has_items = bool(self.filled) and not self.is_default
        return has_items or bool(self.removed) or self.value not in ("", None)

    @property
    def filled(self) -> list[ShownItem]:
        return [item for item in self.items if not item.is_blank]

    def add_error(self, text: str, path: Path, *, item: int | None = None) -> None:
        """Add a message once: at the cell of ``item`` that ``path`` leads to, or below the
        field."""
        errors = self.errors
        if item is not None:
            errors = self.items[item].cell(self.field.cell_of(path)).errors
        if text not in errors:
            errors.append(text)


def show_field(field: Field, values: Values, offered: Offered) -> ShownField:
    """Return a field with its value in the document and its options."""
    shown = ShownField(field, attributes=dict(ATTRIBUTES.get(field.input, {})))
    if field.literal:
        shown.attributes |= LITERAL_ATTRIBUTES
    if field.is_list:
        shown.items = items.show_items(field, nested.stored_items(values, field), offered)
        return shown
    value = nested.get(values, field.key)
    if field.input is Input.DURATION:
        shown.value, shown.unit = durations.split_duration(value, unit=field.unit)
        return shown
    if value is None and field.input is Input.FLAG and field.initial:
        value = True  # the default
    shown.value = "" if value is None or field.input in SECRETS else value
    if field.input is Input.SCRIPT and isinstance(value, list):
        shown.value = "\n".join(map(str, value))
    elif field.input is Input.SELECT:
        shown.value, shown.options = items.select_option(str(shown.value), field, offered)
    elif field.input in {Input.MANY, Input.BOXES, Input.RADIO, Input.MAYBE}:
        shown.options = [*field.options, *offered.get(field.choices, [])]
    elif field.input is Input.TEXT and field.choices:
        shown.options = list(offered.get(field.choices, []))  # suggested; another can be typed
    return shown
