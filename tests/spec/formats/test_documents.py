"""A stored document is whole, one for people is brief; both make the same spec."""

import json
from typing import Any

import pytest

from spec.formats import documents
from spec.parts.compute import Compute
from spec.workload import WorkloadSpec
from tests.engines.kubernetes.cases import CASES, case


@pytest.mark.parametrize("name", CASES)
def test_whole_and_brief_documents_make_the_same_spec(name: str) -> None:
    spec = case(name).spec
    whole = documents.dump_spec(spec)
    assert documents.load_spec(whole) == spec
    brief = documents.without_defaults(whole)
    assert documents.load_spec(brief) == spec
    expected = spec.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude_none=True)
    if spec.roles:
        del expected["worker"]  # it repeats the role that leads
    assert brief == expected


def test_a_whole_document_lacks_only_what_others_have() -> None:
    spec = documents.load_spec({"distributedFramework": "JAX", "worker": {"image": "img:1"}})
    names = {field.alias for field in WorkloadSpec.model_fields.values()}
    assert names - documents.dump_spec(spec).keys() == {
        "idleLimitSeconds",
        "minReplicas",
        "maxReplicas",
        "processesPerPod",
        "slotsPerWorker",
        "sshAuthMountPath",
        "mpiLauncherCreationPolicy",
        *("roles", "barrier", "ignoreNonLeadStatus"),
    }
    assert set(documents.dump_spec(Compute())) == {it.alias for it in Compute.model_fields.values()}


@pytest.mark.parametrize(
    ("given", "brief"),
    [
        ({"worker": {"stdin": False, "nope": 1}, "backoffLimit": 6}, {"worker": {"nope": 1}}),
        ({"worker": {"labels": "no list", "compute": {}}}, {"worker": {"labels": "no list"}}),
        ({"numWorkers": "1", "odd": None}, {"numWorkers": "1", "odd": None}),
    ],
)
def test_a_brief_document_need_not_be_one_of_a_spec(
    given: dict[str, Any], brief: dict[str, Any]
) -> None:
    assert documents.without_defaults(given) == brief


def _jumbled(value: Any) -> Any:
    """As PostgreSQL stores it: shorter keys first."""
    if isinstance(value, list):
        return [_jumbled(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _jumbled(value[key]) for key in sorted(value, key=lambda it: (len(it), it))}


@pytest.mark.parametrize("name", CASES)
def test_a_stored_document_has_the_order_of_the_spec(
    name: str,
) -> None:
    whole = documents.dump_spec(case(name).spec)
    stored = _jumbled(whole)
    assert json.dumps(stored) != json.dumps(whole)
    assert json.dumps(documents.order_keys(stored)) == json.dumps(whole)


def test_a_stored_draft_has_the_order_of_the_spec() -> None:
    worker = {"command": "a", "args": "b", "image": "c", "compute": {"gpuDevicesRequest": 1}}
    values = {"numWorkers": 2, "priorityClass": "low", "typed": "wrong"}
    stored = {"values": values, "worker": {"values": worker}, "master": None, "name": 5}
    read = documents.order_draft_keys(stored)
    assert read == stored
    assert list(read["values"]) == ["numWorkers", "priorityClass", "typed"]
    assert documents.order_draft_keys(_jumbled(stored))["worker"] == read["worker"]
    again = documents.order_draft_keys(_jumbled(stored))
    assert json.dumps(again["worker"]) == json.dumps(read["worker"])
    assert documents.order_draft_keys(["none"]) == {}


def test_a_key_that_is_no_field_any_more_comes_last() -> None:
    stored = {"gone": 1, "worker": {"old": 2, "image": "a"}, "numWorkers": 3}
    assert list(documents.order_keys(stored)) == ["numWorkers", "worker", "gone"]
    assert list(documents.order_keys(stored)["worker"]) == ["image", "old"]
