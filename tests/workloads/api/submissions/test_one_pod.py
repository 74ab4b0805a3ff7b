"""Making, reading, stopping, running and deleting a workload of one pod over REST."""

from typing import Any

import pytest

from projects.models import Project
from spec.phases import Phase
from tests.caller import Body, Caller
from tests.documents import says
from tests.factories import WorkloadFactory
from workloads.models import Workload

SPEC: dict[str, Any] = {
    "image": "kubeflow/pytorch-dist-mnist:v1",
    "command": "python train.py",
    "compute": {"cpuCoreRequest": 0.1, "cpuMemoryRequest": "100M"},
}


def body(seed_body: Body, **spec: Any) -> dict[str, Any]:
    whole = seed_body(spec=SPEC | spec)
    return {key: value for key, value in whole.items() if not key.startswith("masterSpec")}


def test_a_training_is_one_pod_and_is_returned_as_submitted(call: Caller, seed_body: Body) -> None:
    status, created = call("POST", "/workloads/trainings", body(seed_body))
    assert status == 202
    workload = Workload.objects.get(pk=created["workloadId"])
    assert [rank.name for rank in workload.ranks.all()] == ["worker-0"]
    assert (workload.kind, workload.framework) == ("training", "")
    status, answer = call("GET", f"/workloads/trainings/{workload.pk}")
    assert status == 200
    assert says(answer["spec"], SPEC)
    assert not answer["spec"].keys() & {"kind", "distributedFramework", "numWorkers"}
    assert answer.keys() & {"masterSpec", "noMaster"} == set()


def test_an_answered_training_is_accepted_again(call: Caller, seed_body: Body) -> None:
    _, first = call("POST", "/workloads/trainings", body(seed_body))
    again = body(seed_body) | {"spec": first["spec"], "name": "again"}
    status, second = call("POST", "/workloads/trainings", again)
    assert (status, second["spec"]) == (202, first["spec"])


def test_every_field_that_a_training_has_not_is_named(call: Caller, seed_body: Body) -> None:
    odd = body(seed_body, numWorkers=2, distributedFramework="PyTorch", minReplicas=1, image="a b")
    status, refused = call("POST", "/workloads/trainings", odd)
    assert status == 400
    fields = {issue["field"] for issue in refused["complianceIssues"]}
    own = {"spec.numWorkers", "spec.distributedFramework", "spec.minReplicas", "spec.image"}
    assert own <= fields
    status, _ = call("POST", "/workloads/trainings", body(seed_body) | {"noMaster": True})
    assert status in {400, 422}


def test_lists_say_of_what_type_it_is(call: Caller, seed_body: Body) -> None:
    call("POST", "/workloads/trainings", body(seed_body))
    _, listing = call("GET", "/workloads")
    assert [row["type"] for row in listing["workloads"]] == ["Training"]


def test_a_training_stops_runs_again_and_is_deleted(call: Caller, project: Project) -> None:
    workload = WorkloadFactory(project=project, standard=True, running=True)
    path = f"/workloads/trainings/{workload.pk}"
    assert call("POST", f"{path}/suspend")[0] == 202
    assert call("POST", f"{path}/resume")[0] == 409
    Workload.objects.filter(pk=workload.pk).update(phase=Phase.STOPPED)
    assert call("POST", f"{path}/resume")[0] == 202
    assert call("DELETE", path)[0] == 202


def test_each_kind_has_its_own_path(call: Caller, project: Project) -> None:
    one = WorkloadFactory(project=project, standard=True)
    gang = WorkloadFactory(project=project)
    assert call("GET", f"/workloads/trainings/{gang.pk}")[0] == 404
    assert call("GET", f"/workloads/distributed/{one.pk}")[0] == 404
    assert call("GET", f"/workloads/{one.pk}")[0] == 200


def test_a_workspace_is_one_pod_that_has_its_own_path(call: Caller, seed_body: Body) -> None:
    status, created = call("POST", "/workloads/workspaces", body(seed_body))
    assert status == 202
    workload = Workload.objects.get(pk=created["workloadId"])
    assert (workload.kind, workload.num_pods) == ("workspace", 1)
    status, answer = call("GET", f"/workloads/workspaces/{workload.pk}")
    assert says(answer["spec"], SPEC)
    assert call("GET", f"/workloads/trainings/{workload.pk}")[0] == 404
    _, listing = call("GET", "/workloads")
    assert [row["type"] for row in listing["workloads"]] == ["Workspace"]


@pytest.mark.parametrize("path", ["trainings", "workspaces"])
def test_a_dry_run_of_one_pod_submits_nothing(call: Caller, seed_body: Body, path: str) -> None:
    status, answer = call("POST", f"/workloads/{path}?dryRun=true", body(seed_body))
    assert (status, answer["valid"], answer["complianceIssues"]) == (200, True, [])
    assert answer["verdict"]["answer"] == "now"
    odd = body(seed_body, numWorkers=2, image="a b")
    status, answer = call("POST", f"/workloads/{path}?dryRun=true", odd)
    assert (status, answer["valid"]) == (200, False)
    assert {it["field"] for it in answer["complianceIssues"]} >= {"spec.numWorkers", "spec.image"}
    assert not Workload.objects.exists()


def test_a_command_alone_is_enough_where_no_image_is_pulled(call: Caller, seed_body: Body) -> None:
    alone = body(seed_body, command="python -m trainer")
    del alone["spec"]["image"]
    status, created = call("POST", "/workloads/trainings", alone)
    assert (status, created["spec"]["image"]) == (202, None)
    _, listing = call("GET", "/workloads")
    assert [row["images"] for row in listing["workloads"]] == [[]]
    del alone["spec"]["command"]
    status, answer = call("POST", "/workloads/trainings", alone | {"name": "nothing"})
    assert (status, [it["field"] for it in answer["complianceIssues"]]) == (400, ["spec.image"])


@pytest.mark.parametrize("path", ["trainings", "workspaces"])
def test_many_of_one_pod_are_submitted_in_one_call_or_none(
    call: Caller, seed_body: Body, path: str
) -> None:
    batch = f"/workloads/{path}/batch-create"
    many = [body(seed_body) | {"name": name} for name in ("a", "b")]
    wrong = body(seed_body, image="a b", numWorkers=2) | {"name": "c"}
    status, answer = call("POST", batch, {"workloads": [*many, wrong]})
    fields = {it["field"] for it in answer["complianceIssues"]}
    assert (status, fields) == (400, {"workloads.2.spec.image", "workloads.2.spec.numWorkers"})
    assert not Workload.objects.exists()
    status, answer = call("POST", f"{batch}?dryRun=true", {"workloads": many})
    assert (status, answer["valid"], [it["name"] for it in answer["workloads"]]) == (
        200,
        True,
        ["a", "b"],
    )
    status, answer = call("POST", batch, {"workloads": many})
    assert (status, [it["name"] for it in answer["workloads"]]) == (202, ["a", "b"])
    assert {str(it.kind) for it in Workload.objects.all()} == {path.removesuffix("s")}
