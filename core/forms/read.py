"""Read a POST into a document. Nothing is validated here; wrong values are kept as typed."""

import re
from collections.abc import Mapping
from typing import Any

from django.http import QueryDict

from core.forms import items, nested
from core.forms.durations import to_seconds
from core.forms.field import Field, Input, Values

NUMBER = re.compile(r"^[+-]?[0-9]{1,12}(\.[0-9]{1,12})?$")
YES_OR_NO = {"yes": True, "no": False}


def posted_text(posted: Mapping[str, str], name: str) -> str:
    """A posted text with Unix line breaks."""
    return posted.get(name, "").replace("\r\n", "\n").strip()


def _posted_lines(posted: Mapping[str, str], name: str) -> str:
    """A posted text as it was typed, with Unix line breaks: a private key ends with one. A blank
    text is empty."""
    text = posted.get(name, "").replace("\r\n", "\n")
    return text if text.strip() else ""


def read_field(values: Values, field: Field, posted: QueryDict) -> None:
    """Write the posted value of a field into the document. Uploads are not part of it."""
    if field.input is Input.FILE:
        return
    if field.is_list:
        replace_items(
            values, field, items.read_items(field, nested.stored_items(values, field), posted)
        )
    else:
        nested.put(values, field.key, _convert(field, posted))


def _convert(field: Field, posted: QueryDict) -> Any:
    """Return the posted value, converted to the field's type if possible. A flag with its default
    value is ``None``."""
    if field.input is Input.SECRET:
        return posted.get(field.name, "")
    if field.input is Input.SECRET_LINES:
        return _posted_lines(posted, field.name)
    value = posted_text(posted, field.name)
    if field.input in {Input.MANY, Input.BOXES}:
        return posted.getlist(field.name)
    if field.input is Input.SCRIPT:
        return value.split("\n") if value else []
    if field.input is Input.FLAG:
        return None if (value == "on") == field.initial else value == "on"
    if field.input is Input.MAYBE:
        return YES_OR_NO.get(value, value)
    if field.input is Input.NUMBER and NUMBER.match(value):
        return float(value) if "." in value else int(value)
    if field.input is Input.WHOLE and items.WHOLE.match(value):
        return int(value)
    if field.input is Input.DURATION and value:
        return to_seconds(value, posted.get(f"{field.name}-unit", "sec"))
    return value


def field_items(values: Values, field: Field) -> list[Any]:
    """The items of the document's list that belong to this field."""
    return [item for item in nested.stored_items(values, field) if field.includes(item)]


def replace_items(values: Values, field: Field, new: list[Any]) -> None:
    """Replace the field's items in the list, leaving items of other fields in place."""
    if field.single:
        if new or field_items(values, field):
            nested.put(values, field.key, new[0] if new else None)
        return
    rest = list(new)
    merged = []
    for old in nested.items(values, field.key):
        if not field.includes(old):
            merged.append(old)
        elif rest:
            merged.append(rest.pop(0))
    nested.put(values, field.key, [*merged, *rest])
