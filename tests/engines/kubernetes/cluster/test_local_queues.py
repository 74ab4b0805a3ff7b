"""What a cluster with Kueue tells of its queues."""

from typing import Any

import pytest

from engines.kubernetes.cluster.local_queues import local_queues
from engines.local_queues import LocalQueue, ResourceQuota
from tests.engines.kubernetes.answering import Answering, answering

PATH = "/apis/kueue.x-k8s.io/v1beta2"
GPU = "nvidia.com/gpu"


def listed(*items: Any) -> dict[str, Any]:
    return {"metadata": {}, "items": list(items)}


def local(space: str, name: str, *, message: str = "", policy: str = "None") -> dict[str, Any]:
    return {
        "metadata": {"namespace": space, "name": name},
        "spec": {"clusterQueue": "gpus", "stopPolicy": policy},
        "status": active(message),
    }


def active(message: str) -> dict[str, Any]:
    state = {"type": "Active", "status": "False" if message else "True", "message": message}
    return {"conditions": [state]}


def cluster_queue(*flavors: dict[str, Any], message: str = "", **spec: Any) -> dict[str, Any]:
    groups = [{"coveredResources": [GPU], "flavors": list(flavors)}]
    return {
        "metadata": {"name": "gpus"},
        "spec": {"resourceGroups": groups, **spec},
        "status": active(message),
    }


def flavor(name: str, **quota: str) -> dict[str, Any]:
    return {"name": name, "resources": [{"name": GPU, **quota}]}


def read_queues(server: Answering, *queues: Any, of: Any) -> tuple[LocalQueue, ...] | None:
    server.answers[f"{PATH}/localqueues"] = listed(*queues)
    server.answers[f"{PATH}/clusterqueues"] = listed(of) if isinstance(of, dict) else of
    return local_queues(server.api, "v1beta2", "trainyard-")


def test_queues_of_projects_are_known_with_what_their_quota_allows() -> None:
    of = cluster_queue(flavor("a100", nominalQuota="8"), flavor("h100", nominalQuota="4"))
    with answering() as server:
        queues = read_queues(server, local("trainyard-a", "team"), local("shop", "other"), of=of)
    quota = ResourceQuota(GPU, nominal=12, most=12, most_of_role=8)
    assert queues == (LocalQueue("trainyard-a", "team", "gpus", quotas=(quota,)),)


@pytest.mark.parametrize(
    ("spec", "limit", "most"),
    [
        ({"cohortName": "all"}, {"borrowingLimit": "2"}, 10),
        ({"cohort": "all"}, {"borrowingLimit": "2"}, 10),  # v1beta1
        ({"cohortName": "all"}, {}, None),
        ({}, {}, 8),
    ],
    ids=["limited", "of v1beta1", "by the cohort alone", "no cohort"],
)
def test_the_most_includes_what_may_be_borrowed(
    spec: dict[str, str], limit: dict[str, str], most: float | None
) -> None:
    of = cluster_queue(flavor("a100", nominalQuota="8", **limit), **spec)
    with answering() as server:
        queues = read_queues(server, local("trainyard-a", "team"), of=of)
    assert queues
    assert queues[0].quotas == (ResourceQuota(GPU, nominal=8, most=most, most_of_role=most),)


def test_an_inactive_queue_says_why() -> None:
    stopped = cluster_queue(message="Can't admit new workloads: is stopped.")
    blocked = local("trainyard-a", "a", message="Can't submit new workloads to clusterQueue")
    held = local("trainyard-a", "b", policy="Hold")
    with answering() as server:
        queues = read_queues(server, blocked, of=stopped)
        assert queues
        assert queues[0].why_inactive == (
            "ClusterQueue gpus: Can't admit new workloads: is stopped."
        )
        queues = read_queues(server, blocked, held, of=cluster_queue())
        assert queues
        assert [queue.why_inactive for queue in queues] == [
            "Can't submit new workloads to clusterQueue",
            "its stopPolicy is Hold",
        ]


def test_a_queue_of_a_cluster_queue_that_is_gone_says_so() -> None:
    lost = local("trainyard-a", "team", message="Can't submit new workloads to clusterQueue")
    lost["status"]["conditions"][0]["reason"] = "ClusterQueueDoesNotExist"
    with answering() as server:
        server.answers[f"{PATH}/localqueues"] = listed(lost)
        server.answers[f"{PATH}/clusterqueues"] = listed()
        queues = local_queues(server.api, "v1beta2", "trainyard-")
    assert queues
    assert queues[0].why_inactive == "there is no ClusterQueue gpus"


def test_without_the_right_to_look_nothing_is_said() -> None:
    with answering() as server:
        server.answers[f"{PATH}/localqueues"] = (403, "localqueues is forbidden")
        assert local_queues(server.api, "v1beta2", "") is None
        queues = read_queues(
            server, local("trainyard-a", "team"), of=(403, "clusterqueues is forbidden")
        )
        assert queues == (LocalQueue("trainyard-a", "team", "gpus"),)
