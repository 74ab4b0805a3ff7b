"""The OpenAPI document, to be walked."""

import json
from collections.abc import Iterator
from io import StringIO
from typing import Any

from django.core.management import call_command

METHODS = ("get", "post", "put", "patch", "delete")
Described = dict[str, Any]


def document() -> Described:
    out = StringIO()
    call_command("openapi", stdout=out)
    found: Described = json.loads(out.getvalue())
    return found


def operations(of: Described) -> Iterator[tuple[str, Described]]:
    """Each by method and path."""
    for path, calls in of["paths"].items():
        yield from ((f"{m.upper()} {path}", it) for m, it in calls.items() if m in METHODS)


def resolved(schema: Described, of: Described) -> Described:
    """What a reference leads to."""
    while "$ref" in schema:
        schema = of["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def body_of(operation: Described, of: Described) -> Described:
    """The schema of its body; empty where it takes none."""
    content = operation.get("requestBody", {}).get("content", {})
    return resolved(content["application/json"]["schema"], of) if content else {}


def ways(schema: Described, of: Described) -> list[Described]:
    """All that a value may be."""
    schema = resolved(schema, of)
    inner = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())]
    return [it for one in inner for it in ways(one, of)] or [schema]
