"""Read and write values in a document by wire path, such as ``storage.pvc``."""

from typing import Any

from core.forms.field import Field, Values

EMPTY: tuple[Any, ...] = ("", [], {}, None)


def get(values: Values, key: str) -> Any:
    """The value at a path; ``None`` if it or a parent is missing."""
    value: Any = values
    for step in key.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def items(values: Values, key: str) -> list[Any]:
    value = get(values, key)
    return value if isinstance(value, list) else []


def stored_items(values: Values, field: Field) -> list[Any]:
    """Return all items of the field's list, including those of other fields that share the list. A
    single item is returned as a list."""
    if not field.single:
        return items(values, field.key)
    item = get(values, field.key)
    return [] if item in EMPTY else [item]


def put(values: Values, key: str, value: Any, *, empty: bool = False) -> None:
    """Set a value. An empty value is removed, together with parents that become empty. With
    ``empty``, an empty string is kept."""
    head, _, rest = key.partition(".")
    if rest:
        inner = values.get(head)
        below = dict(inner) if isinstance(inner, dict) else {}
        put(below, rest, value, empty=empty)
        value = below
    if value in EMPTY and not (empty and value == ""):
        values.pop(head, None)
    else:
        values[head] = value
