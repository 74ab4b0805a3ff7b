"""Values of a document by their wire path, such as ``storage.pvc``."""

from typing import Any

from core.forms.field import Field, Values

EMPTY: tuple[Any, ...] = ("", [], {}, None)


def get(values: Values, key: str) -> Any:
    """What stands there; ``None`` where nothing does, or something else on the way."""
    value: Any = values
    for step in key.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def items(values: Values, key: str) -> list[Any]:
    value = get(values, key)
    return value if isinstance(value, list) else []


def all_of(values: Values, field: Field) -> list[Any]:
    """All items of a list, whichever field they belong to; or the one item that stands alone."""
    if not field.single:
        return items(values, field.key)
    alone = get(values, field.key)
    return [] if alone in EMPTY else [alone]


def put(values: Values, key: str, value: Any, *, empty: bool = False) -> None:
    """Keep a value; an empty one goes, and what held nothing else with it. ``empty``: an empty text
    stays."""
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
