"""From what a browser posted to a document. Nothing is judged here: wrong answers are kept too."""

import re
from collections.abc import Mapping
from typing import Any

from django.http import QueryDict

from core.forms import items, nested
from core.forms.durations import to_seconds
from core.forms.field import Field, Input, Values

NUMBER = re.compile(r"^[+-]?[0-9]{1,12}(\.[0-9]{1,12})?$")
YES_OR_NO = {"yes": True, "no": False}


def text(posted: Mapping[str, str], name: str) -> str:
    """One answer, with the line breaks that we have."""
    return posted.get(name, "").replace("\r\n", "\n").strip()


def put(values: Values, field: Field, posted: QueryDict) -> None:
    """Write what was posted for a field into the document. A file is no part of it."""
    if field.input is Input.FILE:
        return
    if field.is_list:
        put_items(values, field, items.read(field, nested.all_of(values, field), posted))
    else:
        nested.put(values, field.key, _value(field, posted))


def _value(field: Field, posted: QueryDict) -> Any:
    """What is no value of its kind stays as it was typed. A flag is kept where it is unusual."""
    if field.input is Input.SECRET:
        return posted.get(field.name, "")
    value = text(posted, field.name)
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


def items_of(values: Values, field: Field) -> list[Any]:
    """The items of a list that are the field's."""
    return [item for item in nested.all_of(values, field) if field.holds(item)]


def put_items(values: Values, field: Field, new: list[Any]) -> None:
    """Put the field's items where its old ones stood; those of another field keep their place."""
    if field.single:
        if new or items_of(values, field):
            nested.put(values, field.key, new[0] if new else None)
        return
    rest, whole = list(new), []
    for old in nested.items(values, field.key):
        if not field.holds(old):
            whole.append(old)
        elif rest:
            whole.append(rest.pop(0))
    nested.put(values, field.key, [*whole, *rest])
