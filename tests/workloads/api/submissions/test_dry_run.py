"""``dryRun=true``: what is wrong, whether it would start, and nothing is made."""

import pytest

from clusters.models import Node
from projects.models import Project
from tests.caller import Body, Caller
from workloads.models import Event, Workload

pytestmark = pytest.mark.django_db
ONE = "/workloads/distributed?dryRun=true"
MANY = "/workloads/distributed/batch-create?dryRun=true"


@pytest.fixture
def elsewhere(project: Project) -> Project:
    """On a cluster that queues, whose three nodes have 8, 2 and no GPUs free."""
    cluster = project.cluster
    cluster.capabilities_json["queues"] = True
    cluster.save()
    cluster.nodes.all().delete()
    for number, held in enumerate((0, 6, 8)):
        Node.objects.create(
            cluster=cluster,
            name=f"n{number}",
            cpu=64,
            memory=10**12,
            gpu_count=8,
            allocated_cpu=1,
            allocated_memory=10**9,
            allocated_gpus=held,
        )
    return project


def test_a_gang_that_fits_would_start_now(call: Caller, seed_body: Body) -> None:
    status, answer = call("POST", ONE, seed_body())
    assert (status, answer["valid"], answer["complianceIssues"]) == (200, True, [])
    assert (answer["verdict"]["answer"], answer["verdict"]["repairs"]) == ("now", [])
    assert not Workload.objects.exists()
    assert not Event.objects.exists()


def test_a_gang_that_waits_is_told_why_and_what_would_start(
    call: Caller, seed_body: Body, elsewhere: Project
) -> None:
    body = seed_body()
    body["spec"] |= {"numWorkers": 3, "compute": {"gpuDevicesRequest": 4}}
    _, answer = call("POST", ONE, body | {"noMaster": True, "masterSpecSameAsWorker": None})
    verdict = answer["verdict"]
    assert (verdict["answer"], verdict["kind"]) == ("later", "Capacity")
    assert verdict["title"] == "Not enough free GPUs"
    assert (verdict["nodes"], verdict["shares"][0]["nodes"]) == (3, 3)
    assert verdict["largestWorkers"] == 2
    assert {"change": "workers=2", "label": "2 workers", "answer": "now"} in verdict["repairs"]


def test_a_gang_waits_for_a_claim_that_does_not_exist(
    call: Caller, seed_body: Body, elsewhere: Project
) -> None:
    cluster = elsewhere.cluster
    cluster.kind = "kubernetes"
    cluster.capabilities_json |= {"claims": [], "schedulers": ["kai-scheduler"]}
    cluster.save()
    body = seed_body()
    claim = {"path": "/data", "existingPvc": True, "claimName": "nope"}
    body["spec"] |= {"storage": {"pvc": [claim]}, "compute": {"gpuDevicesRequest": 1}}
    _, answer = call("POST", ONE, body)
    assert answer["complianceIssues"] == []
    verdict = answer["verdict"]
    assert (verdict["answer"], verdict["kind"]) == ("later", "Storage")
    assert verdict["title"] == "The claim nope is missing"
    assert verdict["repairs"] == []


def test_a_request_that_is_wrong_says_where_with_200(call: Caller, seed_body: Body) -> None:
    body = seed_body()
    body["spec"]["numWorkers"] = 0
    status, answer = call("POST", ONE, body)
    assert (status, answer["valid"], answer["verdict"]) == (200, False, None)
    assert [issue["field"] for issue in answer["complianceIssues"]] == ["spec.numWorkers"]
    status, answer = call("POST", ONE, seed_body() | {"projectId": "x"})
    assert (status, answer["valid"]) == (200, False)


def test_many_are_judged_alone_and_together(call: Caller, seed_body: Body) -> None:
    status, answer = call("POST", MANY, {"workloads": [seed_body(), seed_body()]})
    assert (status, answer["valid"]) == (200, False)
    assert all(one["valid"] and one["verdict"]["answer"] == "now" for one in answer["workloads"])
    assert "used more than once" in answer["complianceIssues"][0]["details"]
    other = seed_body() | {"name": "other"}
    _, answer = call("POST", MANY, {"workloads": [seed_body(), other]})
    assert answer["valid"]
    assert not Workload.objects.exists()


def test_a_project_of_others_is_no_answer_to_a_stranger(stranger: Caller, seed_body: Body) -> None:
    _, answer = stranger("POST", ONE, seed_body())
    assert (answer["valid"], answer["verdict"]) == (False, None)


def test_an_image_that_is_not_used_is_told_before_and_after(
    call: Caller, seed_body: Body, project: Project
) -> None:
    cluster = project.cluster
    cluster.kind = "slurm"
    cluster.settings_json = {"directory": "/shared/trainyard"}
    cluster.capabilities_json |= {"queues": True}
    cluster.save()
    body = seed_body()
    body["spec"] |= {"image": "some/image", "command": "python train.py", "compute": {}}
    _, rehearsed = call("POST", ONE, body)
    assert rehearsed["complianceIssues"] == []
    _, made = call("POST", ONE.partition("?")[0], body)
    _, shown = call("GET", f"/workloads/distributed/{made['workloadId']}")
    (warning,) = rehearsed["warnings"]
    assert warning["field"] == "spec.image"
    assert "has neither pyxis nor apptainer" in warning["details"]
    assert made["warnings"] == shown["warnings"] == [warning]
    cluster.capabilities_json |= {"containers": "apptainer"}
    cluster.save()
    _, rehearsed = call("POST", ONE, body)
    assert rehearsed["warnings"] == []
