"""Walks through the OpenAPI document."""

import json
from collections.abc import Iterator
from io import StringIO
from typing import Any

from django.core.management import call_command

METHODS = ("get", "post", "put", "patch", "delete")
Described = dict[str, Any]


def document() -> Described:
    """Return the OpenAPI document."""
    out = StringIO()
    call_command("openapi", stdout=out)
    found: Described = json.loads(out.getvalue())
    return found


def operations(of: Described) -> Iterator[tuple[str, Described]]:
    """Yield each operation, with its method and path as one text."""
    for path, calls in of["paths"].items():
        yield from ((f"{m.upper()} {path}", it) for m, it in calls.items() if m in METHODS)


def resolved(schema: Described, of: Described) -> Described:
    """Return the schema that a reference leads to, or the schema itself."""
    while "$ref" in schema:
        schema = of["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def body_of(operation: Described, of: Described) -> Described:
    """Return the schema of an operation's body; empty if it has none."""
    content = operation.get("requestBody", {}).get("content", {})
    json = content.get("application/json")  # bytes have no fields
    return resolved(json["schema"], of) if json else {}


def ways(schema: Described, of: Described) -> list[Described]:
    """Return all schemas that a value may follow."""
    schema = resolved(schema, of)
    inner = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())]
    return [it for one in inner for it in ways(one, of)] or [schema]
