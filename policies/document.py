"""Find and type the values in the document of a workload that the fields of rules name."""

from typing import Any

from policies.fields import MASTER, WORKER, WORKLOAD_FIELDS, RuledField, ValueType, find_field
from policies.rules import split_attribute, split_item
from policies.tree import measure
from spec.formats.connections import connections_to_tools
from spec.formats.documents import Document


def document_address(name: str) -> str:
    """Return the path in the document of a rule's field: what a workload has once is not in the
    master's part."""
    return ".".join(filter(None, part_and_name(name)))


def part_and_name(name: str) -> tuple[str, str]:
    """Return the part of the document that has a rule's field, and the field's path there."""
    head, _, inner = name.partition(".")
    if head not in (WORKER, MASTER):
        return "", name
    is_of_workload = split_item(split_attribute(inner)[0])[0] in WORKLOAD_FIELDS
    return ("", inner) if is_of_workload else (head, inner)


def with_value(values: Any, path: str, value: Any) -> Any:
    """Return a copy with the value at a path. A number in the path is the index of an item."""
    head, _, rest = path.partition(".")
    if isinstance(values, list):
        number = int(head)
        changed = with_value(values[number], rest, value) if rest else value
        return [*values[:number], changed, *values[number + 1 :]]
    inner = values if isinstance(values, dict) else {}
    changed = with_value(inner.get(head), rest, value) if rest else value
    return {**inner, head: changed}


def tools_view(replica: Any) -> Any:
    """Return the values of a pod as policies name them: with ``ports`` and ``exposedUrls`` instead
    of connections."""
    if not isinstance(replica, dict):
        return {}
    connections = replica.get("connections")
    is_readable = isinstance(connections, list) and all(
        isinstance(item, dict) for item in connections
    )
    return connections_to_tools(replica) if is_readable else replica


def with_tools(document: Document) -> Document:
    parts = {role: tools_view(document[role]) for role in (WORKER, MASTER) if document.get(role)}
    return {**document, **parts}


def value_type_of(name: str) -> ValueType:
    """Return the type of a rule's field."""
    list_name, attribute = split_attribute(name)
    ruled: RuledField | None = find_field(list_name)
    if ruled is None:
        return ValueType.TEXT
    return ruled.attributes[attribute] if attribute else ruled.type


def measured(value_type: ValueType, value: Any) -> float:
    """Return an amount as a number. What is none counts as 0: the spec refuses it."""
    try:
        return measure(value, value_type)
    except (TypeError, ValueError):
        return 0.0
