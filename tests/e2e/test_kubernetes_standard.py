"""On a real cluster, through the whole product: a standard training, and the time limit of each
kind of workload."""

import shlex
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from tests.cluster import SHELL_IMAGE, RealCluster
from tests.product import Trainyard
from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.kubernetes]
GANG: dict[str, Any] = {"distributedFramework": "PyTorch", "numWorkers": 1}
# others take the first that is listed
CLUSTER = "pods-alone"
PROJECT = "vision-alone"


@pytest.fixture(scope="module")
def joined(real_cluster: RealCluster, running_trainyard: Trainyard) -> Trainyard:
    real_cluster.wipe(f"trainyard-{PROJECT}")
    real_cluster.join(running_trainyard, CLUSTER, PROJECT)
    return running_trainyard


@pytest.fixture
def rest(joined: Trainyard, real_cluster: RealCluster) -> Iterator[Rest]:
    with Rest(joined, PROJECT) as rest:
        yield rest
        for row in rest.send("GET", "/workloads")["workloads"]:
            rest.delete(row["id"])
            wait_for(partial(is_gone, real_cluster, row["id"]), 60, "its pods to be gone")


def is_gone(cluster: RealCluster, workload: str) -> bool:
    return not cluster.pods(workload)


def submit(rest: Rest, name: str, script: str, *, kind: str = "trainings", **spec: Any) -> str:
    small = {"gpuDevicesRequest": 0, "cpuCoreRequest": 0.02, "cpuMemoryRequest": "20M"}
    command = f"sh -c {shlex.quote(script)}"
    body = rest.document(name)
    alone = {"image": SHELL_IMAGE, "command": command, "compute": small, **spec}
    body["spec"] = alone | (GANG if kind == "distributed" else {})
    if kind != "distributed":
        del body["noMaster"]
    return str(rest.send("POST", f"/workloads/{kind}", body)["workloadId"])


def test_a_standard_training_runs_to_its_end_on_kubernetes(rest: Rest) -> None:
    workload = submit(rest, "to-its-end", "echo on its own")
    assert rest.wait(workload, "Completed", "Failed") == "Completed"
    wait_for(lambda: "on its own" in rest.log(workload), 20, "its output")
    assert [pod["name"] for pod in rest.pods(workload)] == ["to-its-end-worker-0"]


def test_each_kind_ends_at_its_time_limit_with_time_to_save(rest: Rest) -> None:
    saves = "trap 'echo saved; exit 0' TERM; while :; do sleep 0.2; done"
    limit = {"timeLimitSeconds": 3, "backoffLimit": 3}
    begun = {
        submit(rest, f"long-{kind}", saves, kind=kind, **limit): kind
        for kind in ("distributed", "trainings", "workspaces")
    }
    for workload, kind in begun.items():
        assert rest.wait(workload, "Completed", "Failed", "Stopped") == "Failed", kind
        seen = rest.read(workload)
        assert (seen["phaseReason"], seen["phaseMessage"]) == (
            "DeadlineExceeded",
            "It reached its time limit of 3 s.",
        ), kind
        ranks = GANG["numWorkers"] + 1 if kind == "distributed" else 1
        assert ["saved" in rest.log(workload, rank) for rank in range(ranks)] == [True] * ranks
        phases = [event["phase"] for event in rest.events(workload) if event["phase"]]
        assert phases[-2:] == ["Stopping", "Failed"], kind
