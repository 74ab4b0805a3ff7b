"""A queue of a real Kueue is found, and a job whose pods were to name it waits there as a whole."""

from collections.abc import Iterator

import pytest

from engines.base import Launch
from engines.kubernetes.cluster.local_queues import local_queues
from engines.kubernetes.kueue.names import KUEUE, PRIORITY_CLASS, QUEUE_NAME
from spec.parts.compute import Compute
from spec.parts.labels import Label
from spec.workload import Architecture
from tests.engines.kubernetes.conftest import SPACE, KubernetesRig
from tests.engines.kubernetes.kueue.real_queue import Queue
from tests.waiting import wait_for

pytestmark = [pytest.mark.kubernetes, pytest.mark.kueue]
NAMESPACE = SPACE.rpartition("/")[2]
COMPUTE = Compute(cpu_core_request=0.02, cpu_memory_request="20M")
GIB = 1024**3


@pytest.fixture
def queue(rig: KubernetesRig) -> Iterator[Queue]:
    """The LocalQueue ``team`` with room for two pods."""
    found = Queue.in_namespace(rig.api, NAMESPACE, "team")
    found.open(seats=2)
    yield found
    rig.clean()
    found.close()


@pytest.fixture
def urgent(rig: KubernetesRig, queue: Queue) -> Iterator[str]:
    """The name of a WorkloadPriorityClass of Kueue, whose value is 7."""
    name = "trainyard-urgent"
    path = f"/apis/{KUEUE}/{queue.version}/workloadpriorityclasses/{name}"
    version = f"{KUEUE}/{queue.version}"
    made = {"apiVersion": version, "kind": "WorkloadPriorityClass", "metadata": {"name": name}}
    rig.api.apply(path, made | {"value": 7})
    yield name
    rig.api.delete(path)


def test_a_queue_is_found_with_the_quota_of_its_cluster_queue(
    rig: KubernetesRig, queue: Queue
) -> None:
    found = local_queues(rig.account, queue.version, NAMESPACE)
    (team,) = (it for it in found or () if it.name == "team")
    assert (team.cluster_queue, team.why_inactive) == (f"{NAMESPACE}-team", "")
    assert team.quotas
    quotas = {quota.resource: (quota.nominal, quota.most) for quota in team.quotas}
    assert quotas == {"cpu": (0.04, 0.04), "memory": (100 * GIB, 100 * GIB)}


def gang(rig: KubernetesRig, *labels: Label) -> Launch:
    """Return a gang of three pods with labels, one more than the queue has room for."""
    launched = rig.shell("true", architecture=Architecture.WORKERS_ONLY, num_workers=3)
    worker = launched.spec.worker.model_copy(update={"compute": COMPUTE, "labels": labels})
    return Launch(launched.handle, 1, launched.spec.model_copy(update={"worker": worker}))


def test_labels_of_kueue_given_to_pods_let_the_gang_wait_as_one(
    rig: KubernetesRig, queue: Queue, urgent: str
) -> None:
    labels = Label(name=QUEUE_NAME, value="team"), Label(name=PRIORITY_CLASS, value=urgent)
    rig.engine.submit(gang(rig, *labels))
    (entry,) = wait_for(queue.entries, 30, "Kueue to take up the job", every=0.1)
    assert entry.queue == "team"
    assert entry.manifest["metadata"]["ownerReferences"][0]["kind"] == "PyTorchJob"
    assert entry.manifest["spec"]["priority"] == 7
    assert sum(part["count"] for part in entry.manifest["spec"]["podSets"]) == 3
    assert rig.mine("/api/v1/pods") == []
