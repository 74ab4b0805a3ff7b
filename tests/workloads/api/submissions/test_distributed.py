"""Making, reading, stopping, running and deleting a distributed training over REST."""

from typing import Any

import pytest

from clusters.models import Cluster
from projects.models import Project
from spec.phases import Phase
from tests.caller import Body, Caller
from tests.documents import says
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


def test_a_distributed_training_reads_back_over_rest_as_it_was_asked_for(
    call: Caller, seed_body: Body
) -> None:
    body = seed_body(masterSpec={"image": "kubeflow/pytorch-dist-mnist:v1", "args": "--epochs 2"})
    _, made = call("POST", "/workloads/distributed", body)
    status, answer = call("GET", f"/workloads/distributed/{made['workloadId']}")
    assert status == 200
    assert says(answer["masterSpec"], body["masterSpec"])
    assert answer["spec"]["numWorkers"] == 2


def test_volumes_and_places_are_read_back(call: Caller, seed_body: Body, project: Project) -> None:
    asked = {
        "storage": {
            "pvc": [{"path": "/data", "claimInfo": {"size": "1G", "storageClass": "fast"}}]
        },
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "nodePools": ["default"],
    }
    body = seed_body(spec=spec(**asked))
    status, refused = call("POST", "/workloads/distributed", body)
    assert status == 400
    assert "this machine has no storage classes" in str(refused)
    Cluster.objects.filter(pk=project.cluster_id).update(kind="kubernetes")
    status, made = call("POST", "/workloads/distributed", body)
    assert status == 202
    _, answer = call("GET", f"/workloads/distributed/{made['workloadId']}")
    assert says(answer["spec"], asked)


def test_a_spec_that_rest_answered_and_takes_again_gives_the_same_answer(
    call: Caller, seed_body: Body
) -> None:
    """Defaults are answered as what they are: a client never sees a difference to what it sent."""
    tool = {"container": 8888, "toolType": "jupyter-notebook", "serviceType": "ClusterIP"}
    body = seed_body(masterSpec={"image": "kubeflow/pytorch-dist-mnist:v1", "ports": [tool]})
    _, first = call("POST", "/workloads/distributed", body)
    assert (first["spec"]["backoffLimit"], first["spec"]["ports"]) == (6, [])
    assert "slotsPerWorker" not in first["spec"], "it is for MPI"
    again = {"spec": first["spec"], "masterSpec": first["masterSpec"], "name": "again"}
    status, second = call("POST", "/workloads/distributed", body | again)
    assert status == 202
    assert (second["spec"], second["masterSpec"]) == (first["spec"], first["masterSpec"])


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
    ({"projectId": "none"}, "projectId", "not the ID of a project"),
    ({"projectId": "99999"}, "projectId", "does not exist"),
    ({"clusterId": "00000000-0000-0000-0000-000000000000"}, "clusterId", "belongs to"),
    ({"spec": spec(image="")}, "spec.image", "is required"),
    ({"spec": spec(image="a b")}, "spec.image", "not an image URL"),
    ({"spec": spec(numWorkers=0)}, "spec.numWorkers", "at least 1"),
    ({"spec": spec(numWorkers="two")}, "spec.numWorkers", "whole number"),
    ({"spec": spec(numWorkers=10**6)}, "spec.numWorkers", "at most 512"),
    ({"spec": spec(distributedFramework="Caffe")}, "spec.distributedFramework", "must be one of"),
    ({"spec": spec(distributedFramework=7)}, "spec.distributedFramework", "must be one of"),
    ({"spec": spec(surprise=1)}, "spec.surprise", "not a known field"),
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
def test_a_distributed_training_over_rest_names_each_wrong_value(
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
    assert status == 409
    assert "different name" in answer["complianceIssues"][0]["details"]
    assert Workload.objects.count() == 1


VERBS = [
    ("running", "POST", "/suspend", 202, Phase.STOPPING),
    ("stopped", "POST", "/suspend", 409, Phase.STOPPED),
    ("stopped", "POST", "/resume", 202, Phase.RESUMING),
    ("completed", "POST", "/resume", 202, Phase.RESUMING),
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
def test_a_stranger_finds_no_distributed_training_by_rest(
    stranger: Caller, project: Project, path: str
) -> None:
    workload = WorkloadFactory.create(project=project, running=True)
    method = "POST" if path else "GET"
    status, answer = stranger(method, f"/workloads/distributed/{workload.pk}{path}")
    assert status == 404
    assert answer["code"] == 404


def test_a_stranger_cannot_submit_into_a_project(stranger: Caller, seed_body: Body) -> None:
    status, answer = stranger("POST", "/workloads/distributed", seed_body())
    assert status == 400
    assert answer["complianceIssues"][0]["field"] == "projectId"


def test_an_excluded_item_is_none_and_moves_no_address(call: Caller, seed_body: Body) -> None:
    out = {"name": "team", "exclude": True}
    _, made = call(
        "POST", "/workloads/distributed", seed_body(spec=spec(labels=[out, {"name": "a"}]))
    )
    assert [label["name"] for label in made["spec"]["labels"]] == ["a"]
    wrong = seed_body(spec=spec(labels=[out, {"name": "a", "value": "?"}]))
    status, refused = call("POST", "/workloads/distributed", wrong)
    assert status == 400
    assert "spec.labels.1.value" in str(refused)


def test_a_project_id_that_is_none_hides_nothing_else_that_is_wrong(
    call: Caller, seed_body: Body
) -> None:
    body = seed_body(projectId="none", name="Upper", spec=spec(image=""))
    status, answer = call("POST", "/workloads/distributed", body)
    fields = [issue["field"] for issue in answer["complianceIssues"]]
    assert (status, set(fields)) == (400, {"projectId", "name", "spec.image"})
    assert fields.count("projectId") == 1
