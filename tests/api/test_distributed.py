"""Making, reading, stopping, running and deleting a distributed training over REST."""

from typing import Any

import pytest

from clusters.models import Cluster, Kind
from projects.models import Project
from spec.phases import Phase
from tests.api.conftest import Body, Caller
from tests.factories import WorkloadFactory
from workloads.models import Workload


def test_the_quickstarts_call_makes_one_master_and_two_workers(
    call: Caller, seed_body: Body
) -> None:
    status, answer = call("POST", "/workloads/distributed", seed_body())
    assert status == 202
    workload = Workload.objects.get(pk=answer["workloadId"])
    assert [rank.name for rank in workload.ranks.all()] == ["master-0", "worker-0", "worker-1"]
    assert (workload.gpus, workload.source, workload.phase) == (0.3, "api", Phase.CREATING)
    assert answer["spec"]["compute"]["gpuPortionRequest"] == 0.1
    assert answer["masterSpecSameAsWorker"] is True


def test_what_was_asked_is_read_back(call: Caller, seed_body: Body) -> None:
    body = seed_body(masterSpec={"image": "kubeflow/pytorch-dist-mnist:v1", "args": "--epochs 2"})
    _, made = call("POST", "/workloads/distributed", body)
    status, answer = call("GET", f"/workloads/distributed/{made['workloadId']}")
    assert status == 200
    assert answer["masterSpec"] == body["masterSpec"]
    assert answer["spec"]["numWorkers"] == 2


def test_volumes_and_places_are_read_back(call: Caller, seed_body: Body, project: Project) -> None:
    asked = {
        "storage": {"pvc": [{"path": "/data", "claimInfo": {"size": "1G"}}]},
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "nodePools": ["default"],
    }
    body = seed_body(spec=spec(**asked))
    status, refused = call("POST", "/workloads/distributed", body)
    assert status == 400
    assert "nothing is mounted on this machine" in str(refused)
    Cluster.objects.filter(pk=project.cluster_id).update(kind=Kind.KUBERNETES)
    status, made = call("POST", "/workloads/distributed", body)
    assert status == 202
    _, answer = call("GET", f"/workloads/distributed/{made['workloadId']}")
    assert {key: answer["spec"][key] for key in asked} == asked


def test_workers_only_has_no_master(call: Caller, seed_body: Body) -> None:
    _, made = call("POST", "/workloads/distributed", seed_body(noMaster=True))
    _, pods = call("GET", f"/workloads/{made['workloadId']}/pods")
    assert [pod["role"] for pod in pods["pods"]] == ["worker", "worker"]


def test_a_prefix_gets_a_random_end(call: Caller, seed_body: Body) -> None:
    names = {
        call("POST", "/workloads/distributed", seed_body(useGivenNameAsPrefix=True))[1]["name"]
        for _ in range(2)
    }
    assert len(names) == 2
    assert all(name.startswith("workload-name-") for name in names)


def spec(**changes: Any) -> dict[str, Any]:
    return {
        "image": "img:1",
        "numWorkers": 1,
        "distributedFramework": "PyTorch",
        **changes,
    }


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"name": ""}, "name", "is required"),
    ({"name": "Upper"}, "name", "lower-case"),
    ({"name": "x" * 64}, "name", "characters long"),
    ({"name": "a; rm -rf /"}, "name", "lower-case"),
    ({"projectId": "none"}, "projectId", "not a project id"),
    ({"projectId": "99999"}, "projectId", "does not exist"),
    ({"clusterId": "00000000-0000-0000-0000-000000000000"}, "clusterId", "belongs to"),
    ({"spec": spec(image="")}, "spec.image", "is required"),
    ({"spec": spec(image="a b")}, "spec.image", "not an image URL"),
    ({"spec": spec(numWorkers=0)}, "spec.numWorkers", "at least 1"),
    ({"spec": spec(numWorkers="two")}, "spec.numWorkers", "whole number"),
    ({"spec": spec(numWorkers=10**6)}, "spec.numWorkers", "at most 512"),
    ({"spec": spec(distributedFramework="Caffe")}, "spec.distributedFramework", "must be one of"),
    ({"spec": spec(distributedFramework=7)}, "spec.distributedFramework", "must be one of"),
    ({"spec": spec(surprise=1)}, "spec.surprise", "not a field"),
    ({"spec": spec(backoffLimit=101)}, "spec.backoffLimit", "at most 100"),
    (
        {"spec": spec(terminationGracePeriodSeconds=301)},
        "spec.terminationGracePeriodSeconds",
        "at most 300",
    ),
    (
        {"spec": spec(environmentVariables=[{"name": "A B", "value": "1"}])},
        "spec.environmentVariables.0.name",
        "not a variable name",
    ),
    (
        {"spec": spec(compute={"cpuMemoryRequest": "lots"})},
        "spec.compute.cpuMemoryRequest",
        "not an amount",
    ),
    (
        {"spec": spec(compute={"gpuDevicesRequest": 2, "gpuRequestType": "portion"})},
        "spec.compute.gpuDevicesRequest",
        "exactly 1",
    ),
    (
        {"spec": spec(compute={"cpuCoreRequest": 2, "cpuCoreLimit": 1})},
        "spec.compute.cpuCoreLimit",
        "not be less",
    ),
    ({"spec": spec(compute={"gpuDevicesRequest": 5})}, "spec.compute", "can never start"),
    (
        {"spec": spec(storage={"nfs": [{"path": "/e", "mountPath": "n"}]})},
        "spec.storage.nfs.0.mountPath",
        "below /",
    ),
    (
        {"spec": spec(ports=[{"container": 80}, {"container": 99_999}])},
        "spec.ports.1.container",
        "at most 65535",
    ),
    ({"spec": spec(priorityClass="urgent")}, "spec.priorityClass", "must be one of"),
    ({"masterSpec": {"image": "a b"}}, "masterSpec.image", "not an image URL"),
    ({"masterSpec": {"image": "a"}, "noMaster": True}, "masterSpec", "leave it out"),
]


@pytest.mark.parametrize(("changes", "field", "words"), WRONG, ids=lambda value: str(value)[:40])
def test_each_wrong_value_is_named(
    call: Caller, seed_body: Body, changes: dict[str, Any], field: str, words: str
) -> None:
    status, answer = call("POST", "/workloads/distributed", seed_body(**changes))
    assert status == 400
    details = {issue["field"]: issue["details"] for issue in answer["complianceIssues"]}
    assert words in details.get(field, ""), details
    assert not Workload.objects.exists()


def test_an_unknown_key_of_the_request_is_an_error(call: Caller, seed_body: Body) -> None:
    status, answer = call("POST", "/workloads/distributed", seed_body(nmae="typo"))
    assert status == 400
    assert answer["complianceIssues"][0]["field"] == "nmae"


def test_a_taken_name_asks_for_another(call: Caller, seed_body: Body) -> None:
    call("POST", "/workloads/distributed", seed_body())
    status, answer = call("POST", "/workloads/distributed", seed_body())
    assert status == 400
    assert "different name" in answer["complianceIssues"][0]["details"]
    assert Workload.objects.count() == 1


VERBS = [
    ("running", "POST", "/suspend", 202, Phase.STOPPING),
    ("stopped", "POST", "/suspend", 409, Phase.STOPPED),
    ("stopped", "POST", "/resume", 202, Phase.RESUMING),
    ("completed", "POST", "/resume", 409, Phase.COMPLETED),
    ("running", "DELETE", "", 202, Phase.DELETING),
    ("failed", "DELETE", "", 202, Phase.DELETING),
]


@pytest.mark.parametrize(("trait", "method", "path", "expected", "phase"), VERBS)
def test_verbs_follow_the_phase(
    call: Caller,
    project: Project,
    trait: str,
    method: str,
    path: str,
    expected: int,
    phase: Phase,
) -> None:
    workload = WorkloadFactory.create(project=project, **{trait: True})
    status, answer = call(method, f"/workloads/distributed/{workload.pk}{path}")
    workload.refresh_from_db()
    assert (status, workload.phase) == (expected, phase), answer


@pytest.mark.parametrize("path", ["", "/suspend", "/resume"])
def test_a_stranger_finds_nothing(stranger: Caller, project: Project, path: str) -> None:
    workload = WorkloadFactory.create(project=project, running=True)
    method = "POST" if path else "GET"
    status, answer = stranger(method, f"/workloads/distributed/{workload.pk}{path}")
    assert status == 404
    assert answer["code"] == 404


def test_a_stranger_cannot_submit_into_a_project(stranger: Caller, seed_body: Body) -> None:
    status, answer = stranger("POST", "/workloads/distributed", seed_body())
    assert status == 400
    assert answer["complianceIssues"][0]["field"] == "projectId"
