"""A form over a document that is posted as a whole. The wizard has drafts instead."""

import copy
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Any

from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict

from core.forms import items, nested, read
from core.forms.field import Cell, Field, Input, Path, Values
from core.forms.items import SPARE, Offered, ShownItem
from core.forms.shown import ShownField, show_field
from core.forms.words import field_sentence
from core.rest.validation import REQUIRED, error_texts

CLOSED = {Input.SELECT, Input.MANY, Input.BOXES, Input.RADIO, Input.MAYBE}


class Form:
    """Fields with the values of a document, and, if ``posted``, with a person's changes to it.

    ``offered`` are options that are only known now. Posted values of ``fixed`` fields, given by
    name, are ignored. The form itself only checks what browsers never send by themselves: an option
    that was not offered. The model checks everything else; its problems arrive through
    :meth:`add_problems`. The caller handles uploaded ``files``.
    """

    def __init__(
        self,
        fields: Iterable[Field],
        values: Values,
        posted: QueryDict | None = None,
        *,
        files: "Mapping[str, UploadedFile[Any]] | None" = None,
        offered: Offered | None = None,
        fixed: Collection[str] = (),
    ) -> None:
        self.offered: Offered = offered or {}
        self.files = files or {}
        self.initial = values
        self.values = copy.deepcopy(values)
        self.is_bound = posted is not None
        self.non_field_errors: list[str] = []
        declared = tuple(fields)
        for field in declared:
            if posted is not None and field.name not in fixed:
                read.read_field(self.values, field, posted)
        self.fields: dict[str, ShownField] = {
            field.name: show_field(field, self.values, self.offered) for field in declared
        }
        for shown in self:
            shown.disabled = shown.name in fixed
        if posted is not None:
            self._check_options()

    def __getitem__(self, name: str) -> ShownField:
        return self.fields[name]

    def __iter__(self) -> Iterator[ShownField]:
        return iter(self.fields.values())

    @property
    def errors(self) -> dict[str, list[str]]:
        """Messages by field name, including those of its items."""
        return {
            shown.name: [*shown.errors, *(error for item in shown.items for error in item.errors)]
            for shown in self
            if shown.invalid
        }

    def is_valid(self) -> bool:
        return self.is_bound and not self.errors and not self.non_field_errors

    def add_error(self, name: str | None, text: str) -> None:
        """Add a message to a field, or to the whole form if ``name`` is ``None``."""
        (self.fields[name].errors if name else self.non_field_errors).append(text)

    def document(self, *, without: Collection[str] = ()) -> Values:
        """The document without blank items, and without the keys ``without``."""
        document = {key: value for key, value in self.values.items() if key not in without}
        for shown in self:
            if shown.field.is_list:
                filled = [value for _, value in self._filled_items(shown)]
                nested.put(document, shown.field.key, filled)
        return document

    def _filled_items(self, shown: ShownField) -> list[tuple[int, Any]]:
        """Index and value of each item that is not blank."""
        items_of_field = enumerate(read.field_items(self.values, shown.field))
        return [item for item in items_of_field if not shown.items[item[0]].is_blank]

    def add_problems(self, problems: Iterable[tuple[Path, str]]) -> None:
        """Show the model's problems with :meth:`document`, each a path and a message."""
        for path, message in problems:
            shown = self.field_at(path)
            if shown is None:
                dotted = ".".join(map(str, path))
                self.non_field_errors.append(f"{dotted}: {message}" if dotted else message)
                continue
            item = self._item_position(shown, path)
            shown.add_error(field_sentence(message, shown.label_of(path)), path, item=item)

    def _item_position(self, shown: ShownField, path: Path) -> int | None:
        """Return the position on the page of the item that ``path`` leads to, if it leads to one.
        A path counts only filled items, as :meth:`document` has no others."""
        steps = path[len(shown.field.path) :]
        if not shown.field.is_list or not steps or not isinstance(steps[0], int):
            return None
        position, _ = self._filled_items(shown)[steps[0]]
        return position

    def field_at(self, path: Path) -> ShownField | None:
        """Return the field that shows problems at ``path``: the one with the longest matching
        prefix."""
        for length in range(len(path), 0, -1):
            for shown in self:
                if path[:length] in shown.field.paths:
                    return shown
        return None

    def _check_options(self) -> None:
        for shown in self:
            if shown.disabled:
                continue
            self._check_values(shown.field, shown.chosen, shown.errors)
            for item in shown.items:
                for cell in item.cells:
                    self._check_values(cell.cell, [cell.value], cell.errors)

    def _check_values(self, input_of: Field | Cell, values: list[str], errors: list[str]) -> None:
        """Add an error for each value of a closed input that is not among its options."""
        if input_of.input not in CLOSED:
            return
        options = dict([*input_of.options, *self.offered.get(input_of.choices, [])])
        errors += [not_offered(value, input_of.label) for value in values if value not in options]

    def blank_item(self, name: str, number: int | str) -> ShownItem:
        """An empty item of a list field, for a script or a person to fill in."""
        shown = self.fields[name]
        value = shown.new or shown.field.blank_item
        return items.show_item(shown.field, f"{name}-{number}", value, self.offered)

    @property
    def rows(self) -> dict[str, Mapping[str, Any]]:
        """The context of ``components/rows.html`` for each list: its items, a blank one, and spare
        ones."""
        return {shown.name: self._rows_context(shown) for shown in self if shown.field.is_list}

    def _rows_context(self, shown: ShownField) -> Mapping[str, Any]:
        following = range(len(shown.items), len(shown.items) + SPARE)
        return {
            "shown": shown,
            "template": self.blank_item(shown.name, "__prefix__"),
            "spare": [self.blank_item(shown.name, number) for number in following],
        }


def not_offered(value: str, label: str) -> str:
    if not value:
        return field_sentence("is required", label)
    return f"Select a valid choice. {value} is not one of the available choices."


@contextmanager
def collect_errors(form: Form) -> Iterator[None]:
    """Show a ``ValidationError`` raised in the block at the fields it names, or above the form. Put
    the verb and what follows its success into the block."""
    try:
        yield
    except ValidationError as error:
        by_field = (
            error.error_dict if hasattr(error, "error_dict") else {"__all__": error.error_list}
        )
        for field, errors in by_field.items():
            for text in chain.from_iterable(map(error_texts, errors)):
                shown = form.fields.get(field)
                if shown and text == REQUIRED:  # Django's words, which name no field
                    text = field_sentence("is required", shown.field.label)
                form.add_error(field if shown else None, text)
