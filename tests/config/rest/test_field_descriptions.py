"""The OpenAPI document describes every field and parameter."""

from collections.abc import Iterator
from typing import Any

from tests.described import document, operations


def fields(schema: Any, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the path and the description of each field, at any depth."""
    if isinstance(schema, list):
        for inner in schema:
            yield from fields(inner, name)
    if not isinstance(schema, dict):
        return
    for field, inner in schema.get("properties", {}).items():
        yield f"{name}.{field}", inner
        yield from fields(inner, f"{name}.{field}")
    for key, inner in schema.items():
        if key != "properties":
            yield from fields(inner, name)


def described() -> Iterator[tuple[str, dict[str, Any]]]:
    openapi = document()
    for name, schema in openapi["components"]["schemas"].items():
        yield from fields(schema, name)
    for name, call in operations(openapi):
        yield from ((f"{name} {it['name']}", it) for it in call["parameters"])
        yield from fields(call.get("requestBody", {}), name)


def test_each_field_and_parameter_has_a_description() -> None:
    assert not [path for path, field in described() if not field.get("description")]
