"""The OpenAPI document: complete, unambiguous, and never less than the one that was released."""

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest
from pydantic import BaseModel

from config.rest.api import api
from config.run.install import ROOT
from spec.formats import documents
from spec.kind import WorkloadKind
from spec.phases import Phase
from tests.caller import Body, Caller, call, project, researcher, seed_body
from tests.described import Described, document, operations
from workloads.api.spec_schemas import NAMES, REFERENCE

__all__ = ["call", "project", "researcher", "seed_body"]

NOW = document()
RELEASED: Described = json.loads((ROOT / "docs" / "openapi.json").read_text())
SCHEMAS: Described = NOW["components"]["schemas"]


def references(of: Any) -> Iterator[str]:
    if isinstance(of, dict):
        if isinstance(name := of.get("$ref"), str):
            yield name
        of = list(of.values())
    yield from chain.from_iterable(map(references, of)) if isinstance(of, list) else ()


def test_nothing_that_was_released_is_lost() -> None:
    now = dict(operations(NOW))
    lost = []
    for call_of, released in operations(RELEASED):
        current = now.get(call_of)
        if current is None or current["operationId"] != released["operationId"]:
            lost.append(f"{call_of} as {released['operationId']}")
            continue
        names = {it["name"] for it in released.get("parameters", ())}
        lost += [f"{call_of}: {it}" for it in names - {p["name"] for p in current["parameters"]}]
        lost += [f"{call_of}: {it}" for it in released["responses"].keys() - current["responses"]]
    for name, released in RELEASED["components"]["schemas"].items():
        current = SCHEMAS.get(name)
        if current is None:
            lost.append(f"schema {name}")
            continue
        fields = released.get("properties", {}).keys() - current.get("properties", {}).keys()
        lost += [f"{name}.{field}" for field in fields]
        values = set(released.get("enum", ())) - set(current.get("enum", ()))
        lost += [f"{name}: {value}" for value in values]
    assert not lost, (
        "Programs know these; write docs/openapi.json anew only for a new major version"
    )


def test_each_operation_has_a_unique_id_and_a_description() -> None:
    ids = [it["operationId"] for _, it in operations(NOW)]
    assert len(set(ids)) == len(ids)
    assert not [it for it in ids if "_api_" in it or not it.isascii()]
    assert not [name for name, it in operations(NOW) if not it.get("description")]


def test_each_operation_tells_its_refusals_with_the_body_of_an_error() -> None:
    error = REFERENCE.format(model="ErrorBody")
    for name, described in operations(NOW):
        codes = {code for code in described["responses"] if code >= "400"}
        assert codes >= {"400", "401", "503"}, name
        for code in codes:
            schema = described["responses"][code]["content"]["application/json"]["schema"]
            assert schema == {"$ref": error}, name
    assert set(SCHEMAS["ErrorBody"]["properties"]) >= {"code", "complianceIssues", "requestId"}


def test_calls_that_create_link_to_those_that_read_and_delete() -> None:
    linked = {
        call["operationId"]: set(links)
        for _, call in operations(NOW)
        for answer in call["responses"].values()
        if (links := answer.get("links"))
    }
    assert {"read_distributed", "delete_distributed"} <= linked["create_distributed"]
    assert {"get_cluster", "delete_cluster"} <= linked["create_cluster"]
    assert linked["create_asset_compute"] >= {"read_asset_compute", "update_asset_compute"}
    names = {call["operationId"] for _, call in operations(NOW)}
    assert set().union(*linked.values()) <= names


def test_every_reference_leads_to_a_schema() -> None:
    named = {reference.rpartition("/")[2] for reference in references(NOW)}
    assert named <= set(SCHEMAS)


def models(of: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for inner in of.__subclasses__():
        yield inner
        yield from models(inner)


def test_no_two_models_that_are_described_have_one_name() -> None:
    places: dict[str, set[str]] = {}
    for model in models(BaseModel):
        ours = model.__module__.split(".")[0] in {"accounts", "assets", "clusters", "core"}
        ours |= model.__module__.split(".")[0] in {"projects", "workloads", "config", "spec"}
        if ours and model.__name__ in SCHEMAS:
            places.setdefault(model.__name__, set()).add(model.__module__)
    twice = {name: where for name, where in places.items() if len(where) > 1}
    assert not twice


@pytest.mark.parametrize("kind", WorkloadKind)
def test_the_spec_that_is_described_is_the_one_that_is_accepted(kind: WorkloadKind) -> None:
    described = SCHEMAS[NAMES[kind]]
    assert set(described["properties"]) == documents.accepted_keys(kind)
    assert described["additionalProperties"] is False


def test_enumerations_are_listed_and_have_one_spelling_each() -> None:
    assert SCHEMAS["WorkloadOut"]["properties"]["phase"]["enum"] == list(Phase)
    for name, schema in SCHEMAS.items():
        enums = [schema, *schema.get("properties", {}).values()]
        for enum in (it["enum"] for it in enums if isinstance(it, dict) and "enum" in it):
            folded = [str(value).lower() for value in enum]
            assert len(set(folded)) == len(folded), name


def test_an_answer_has_the_fields_that_are_described(call: Caller, seed_body: Body) -> None:
    status, answer = call("POST", "/workloads/distributed", seed_body())
    assert status == 202
    assert set(answer) == set(SCHEMAS["DistributedOut"]["properties"])
    unknown = set(answer["spec"]) - set(SCHEMAS["DistributedSpec"]["properties"])
    assert not unknown


def test_operations_are_those_of_the_api() -> None:
    assert {it["operationId"] for _, it in operations(NOW)} == {
        it["operationId"]
        for calls in api.get_openapi_schema()["paths"].values()
        for it in calls.values()
    }


def test_the_document_is_made_once() -> None:
    """It takes a second of a processor, and anyone may ask for it, signed in or not."""
    assert api.get_openapi_schema() is api.get_openapi_schema(path_params={})
