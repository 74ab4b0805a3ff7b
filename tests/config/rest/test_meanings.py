"""What the OpenAPI document says of each field and parameter."""

from collections.abc import Iterator
from typing import Any

import pytest

from config.rest.description import MEANINGS
from tests.described import document, operations

NOW = document()


def fields(schema: Any, name: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Schema, name and description of each, those of what stands inside as well."""
    for inner in schema if isinstance(schema, list) else ():
        yield from fields(inner, name)
    if not isinstance(schema, dict):
        return
    properties = schema.get("properties", {})
    yield from ((name, field, one) for field, one in properties.items())
    for key, inner in schema.items():
        yield from fields(list(inner.values()) if key == "properties" else inner, name)


def described() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name, schema in NOW["components"]["schemas"].items():
        yield from fields(schema, name)
    for name, call in operations(NOW):
        yield from ((f"parameter of {name}", it["name"], it) for it in call["parameters"])
        yield from fields(call.get("requestBody", {}), name)


def test_each_field_and_parameter_says_what_it_means() -> None:
    silent = {f"{name}: {field}" for name, field, it in described() if not it.get("description")}
    assert not silent, "config/rest/fields.toml has a line for each"


def test_no_meaning_is_of_what_is_no_longer_there() -> None:
    schemas = NOW["components"]["schemas"].keys()
    assert MEANINGS.keys() <= {"any", "parameter", *schemas}
    known: dict[str, set[str]] = {}
    for name, field, _ in described():
        of = "parameter" if name.startswith("parameter of") else name
        known.setdefault(of, set()).add(field)
    every = set().union(*known.values())
    stale = [it for it in MEANINGS["any"] if it not in every]
    stale += [
        f"{of}.{it}"
        for of in MEANINGS
        for it in MEANINGS[of]
        if of != "any" and it not in known[of]
    ]
    assert not stale


@pytest.mark.parametrize("of", MEANINGS)
def test_a_meaning_is_a_phrase(of: str) -> None:
    """As labels are: without a full stop, and long enough to say more than the name."""
    assert not [it for it in MEANINGS[of].values() if it.endswith(".") or len(it) < 6]
