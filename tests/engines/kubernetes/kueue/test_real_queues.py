"""Queues of a real Kueue: they are found, and a job that names one waits there as a whole."""

from collections.abc import Iterator
from typing import Any

import pytest

from engines.base import Launch, Manifest
from engines.kubernetes.client.api import Api
from engines.kubernetes.cluster.local_queues import local_queues
from engines.kubernetes.kueue.names import KUEUE, PRIORITY_CLASS, QUEUE_NAME, served_version
from engines.local_queues import GPU, LocalQueue
from spec.parts.compute import Compute
from spec.parts.labels import Label
from spec.workload import Architecture
from tests.engines.kubernetes.conftest import PREFIX, SPACE, KubernetesRig
from tests.waiting import wait_for

pytestmark = [pytest.mark.kubernetes, pytest.mark.kueue]
NAME = "trainyard-doors"
COMPUTE = Compute(cpu_core_request=0.02, cpu_memory_request="20M")


class Kueue:
    """A ClusterQueue for two pods, and the LocalQueue ``team`` of the tests' namespace."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self.version = served_version(api.get("/apis")["groups"])

    def open(self) -> None:
        if self._api.find(SPACE) is None:
            space = {"kind": "Namespace", "metadata": {"name": SPACE.rpartition("/")[2]}}
            self._api.create("/api/v1/namespaces", space)
        self._apply("ResourceFlavor", "resourceflavors", NAME, {})
        amounts = {"cpu": "50m", "memory": "1Gi", GPU: "1"}
        resources = [{"name": name, "nominalQuota": value} for name, value in amounts.items()]
        flavors = [{"name": NAME, "resources": resources}]
        groups = [{"coveredResources": [*amounts], "flavors": flavors}]
        spec = {"namespaceSelector": {}, "resourceGroups": groups}
        self._apply("ClusterQueue", "clusterqueues", NAME, spec)
        self._apply("LocalQueue", f"{self._space}/localqueues", "team", {"clusterQueue": NAME})
        self._apply("WorkloadPriorityClass", "workloadpriorityclasses", NAME, value=7)
        wait_for(lambda: not self.team().why_inactive, 30, "the queue to be active", every=0.1)

    def close(self) -> None:
        self._api.delete(f"{self._path(self._space)}/localqueues/team")
        for plural in ("clusterqueues", "resourceflavors", "workloadpriorityclasses"):
            self._api.delete(f"{self._path(plural)}/{NAME}")

    def team(self) -> LocalQueue:
        """Return the LocalQueue as Trainyard reads it. Until Kueue has looked at it, it has no
        condition."""
        queues = local_queues(self._api, self.version, PREFIX) or ()
        return next(queue for queue in queues if queue.name == "team")

    def entries(self) -> list[Manifest]:
        """Return Kueue's Workloads in the namespace."""
        return self._api.items(self._path(f"{self._space}/workloads"))

    @property
    def _space(self) -> str:
        return f"namespaces/{SPACE.rpartition('/')[2]}"

    def _path(self, plural: str) -> str:
        return f"/apis/{KUEUE}/{self.version}/{plural}"

    def _apply(self, kind: str, plural: str, name: str, spec: Any = None, **more: Any) -> None:
        item = {"apiVersion": f"{KUEUE}/{self.version}", "kind": kind, "metadata": {"name": name}}
        body = {} if spec is None else {"spec": spec}
        self._api.apply(f"{self._path(plural)}/{name}", item | body | more)


@pytest.fixture
def kueue(rig: KubernetesRig) -> Iterator[Kueue]:
    found = Kueue(rig.api)
    if not found.version:
        pytest.skip("this cluster has no Kueue; make test-kubernetes starts one that has")
    found.open()
    yield found
    rig.clean()
    found.close()


def test_a_queue_is_found_with_the_quota_of_its_cluster_queue(kueue: Kueue) -> None:
    team = kueue.team()
    assert (team.cluster_queue, team.why_inactive) == (NAME, "")
    assert team.quotas
    quotas = {quota.resource: (quota.nominal, quota.most) for quota in team.quotas}
    assert quotas == {"cpu": (0.05, 0.05), "memory": (1024**3, 1024**3), GPU: (1, 1)}


def gang(rig: KubernetesRig, **worker: Any) -> Launch:
    """Return a gang of three pods, one more than the queue has room for."""
    launched = rig.shell("true", architecture=Architecture.WORKERS_ONLY, num_workers=3)
    replica = launched.spec.worker.model_copy(update={"compute": COMPUTE, **worker})
    spec = launched.spec.model_copy(update={"worker": replica})
    return Launch(launched.handle, 1, spec)


def test_labels_of_kueue_given_to_pods_let_the_gang_wait_as_one(
    rig: KubernetesRig, kueue: Kueue
) -> None:
    labels = (
        Label(name=QUEUE_NAME, value="team"),
        Label(name=PRIORITY_CLASS, value=NAME),
    )
    rig.engine.submit(gang(rig, labels=labels))
    (entry,) = wait_for(kueue.entries, 30, "Kueue to take up the job", every=0.1)
    assert entry["metadata"]["ownerReferences"][0]["kind"] == "PyTorchJob"
    assert entry["spec"]["queueName"] == "team"
    assert entry["spec"]["priority"] == 7
    assert sum(part["count"] for part in entry["spec"]["podSets"]) == 3
    assert rig.mine("/api/v1/pods") == []
