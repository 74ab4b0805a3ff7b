"""One way to say a thing: what a request says elsewhere, or under another name, is refused."""

from typing import Any

import pytest

from tests.caller import Body, Caller
from workloads.models import Workload


def spec(**changes: Any) -> dict[str, Any]:
    return {"image": "a", "numWorkers": 1, "distributedFramework": "PyTorch", **changes}


DOORS: list[tuple[dict[str, Any], str, str]] = [
    ({"spec": spec(master=5)}, "spec.master", "not a known field"),
    ({"spec": spec(master={"image": "a b"})}, "spec.master", "not a known field"),
    ({"spec": spec(worker={"image": "a"})}, "spec.worker", "not a known field"),
    ({"spec": spec(architecture="workers_only")}, "spec.architecture", "not a known field"),
    ({"spec": spec(name="other")}, "spec.name", "not a known field"),
    ({"spec": spec(num_workers=3)}, "spec.num_workers", "not a known field"),
    (
        {"spec": spec(compute={"cpu_core_request": 1})},
        "spec.compute.cpu_core_request",
        "not a known field",
    ),
    ({"masterSpec": {"image": "a"}, "masterSpecSameAsWorker": True}, "masterSpec", "leave it out"),
    ({"masterSpecSameAsWorker": False}, "masterSpec", "is required"),
]


@pytest.mark.parametrize(("changes", "field", "words"), DOORS, ids=lambda value: str(value)[:40])
@pytest.mark.parametrize("many", [False, True])
def test_a_second_door_to_a_spec_is_closed(
    call: Caller, seed_body: Body, changes: dict[str, Any], field: str, words: str, many: bool
) -> None:
    body: Any = seed_body(**changes)
    if many:
        status, answer = call("POST", "/workloads/distributed/batch-create", {"workloads": [body]})
    else:
        status, answer = call("POST", "/workloads/distributed", body)
    assert status == 400
    details = {issue["field"]: issue["details"] for issue in answer["complianceIssues"]}
    place = f"workloads.0.{field}" if many else field
    assert words in details.get(place, ""), details
    rules = {issue["field"]: issue["rule"] for issue in answer["complianceIssues"]}
    assert "known field" not in words or rules[place] == "unknown"
    assert not Workload.objects.exists()


def test_runapys_words_for_nothing_are_taken(call: Caller, seed_body: Body) -> None:
    """Its models always send them."""
    items = {
        "labels": [{"name": "a", "value": "b", "exclude": False}],
        "annotations": [{"name": "a", "value": "b", "exclude": False}],
        "imagePullSecrets": [],
        "relatedUrls": [{"url": "https://a/b", "type": "x", "exclude": False}],
    }
    status, answer = call("POST", "/workloads/distributed", seed_body(spec=spec(**items)))
    assert status == 202, answer


def test_the_sharing_of_a_claim_can_only_be_false(call: Caller, seed_body: Body) -> None:
    claim = {"existingPvc": True, "claimName": "data", "path": "/data"}
    for shared, wrong in ((False, False), (True, True)):
        pvc = [claim | {"dataSharing": shared}]
        body = seed_body(spec=spec(storage={"pvc": pvc}))
        answer = call("POST", "/workloads/distributed?dryRun=true", body)[1]
        fields = {it["field"] for it in answer["complianceIssues"]}
        assert ("spec.storage.pvc.0.dataSharing" in fields) == wrong


def test_a_name_that_is_taken_is_a_conflict_unless_more_is_wrong(
    call: Caller, seed_body: Body
) -> None:
    call("POST", "/workloads/distributed", seed_body())
    status, answer = call("POST", "/workloads/distributed", seed_body())
    (issue,) = answer["complianceIssues"]
    assert (status, issue["field"], issue["rule"]) == (409, "name", "unique")
    body = seed_body()
    body["spec"]["numWorkers"] = 0
    assert call("POST", "/workloads/distributed", body)[0] == 400


def test_the_requested_name_is_what_was_requested(call: Caller, seed_body: Body) -> None:
    _, plain = call("POST", "/workloads/distributed", seed_body())
    _, made = call("POST", "/workloads/distributed", seed_body(useGivenNameAsPrefix=True))
    assert plain["requestedName"] == plain["name"] == made["requestedName"]
    assert made["name"].startswith("workload-name-")


def test_the_id_of_a_project_may_be_a_number(call: Caller, seed_body: Body) -> None:
    body = seed_body()
    status, made = call(
        "POST", "/workloads/distributed", body | {"projectId": int(body["projectId"])}
    )
    assert (status, made["projectId"]) == (202, body["projectId"])
    assert call("POST", "/workloads/distributed", body | {"projectId": True})[0] == 400
