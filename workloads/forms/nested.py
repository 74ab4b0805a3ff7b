"""Values of a draft by their wire path, such as ``storage.pvc``."""

from typing import Any

from spec.draft import Values

EMPTY: tuple[Any, ...] = ("", [], {}, None)


def get(values: Values, key: str) -> Any:
    """What stands there; ``None`` where nothing does, or something else on the way."""
    found: Any = values
    for step in key.split("."):
        found = found.get(step) if isinstance(found, dict) else None
    return found


def items(values: Values, key: str) -> list[Any]:
    found = get(values, key)
    return found if isinstance(found, list) else []


def put(values: Values, key: str, value: Any) -> None:
    """Keep a value; an empty one goes, and what held nothing else with it."""
    head, _, rest = key.partition(".")
    if rest:
        inner = values.get(head)
        below = dict(inner) if isinstance(inner, dict) else {}
        put(below, rest, value)
        value = below
    if value in EMPTY:
        values.pop(head, None)
    else:
        values[head] = value
