"""A queue of real Kueue, and what it holds."""

from collections.abc import Iterable
from typing import Any

import pytest

from engines.base import Manifest
from engines.kubernetes.client.api import Api
from engines.kubernetes.kueue.names import KUEUE, served_version, workloads_path
from engines.kubernetes.kueue.workload import QueuedJob
from engines.kubernetes.objects import NAMESPACES
from tests.waiting import wait_for

SEAT = 20  # thousandths of a core that one pod requests
PRIORITIES = {"low": 40, "high": 125}


class Queue:
    """A ClusterQueue with ``seats`` for pods, and a LocalQueue for it in one namespace.

    Into a LocalQueue that is named ``default`` Kueue takes every job of the namespace.
    """

    def __init__(self, api: Api, namespace: str, name: str = "default") -> None:
        self._api = api
        self._namespace = namespace
        self._name = name
        self._cluster_queue = f"{namespace}-{name}"
        self.version = served_version(api.get("/apis")["groups"])

    @classmethod
    def in_namespace(cls, api: Api, namespace: str, name: str = "default") -> "Queue":
        """Return a queue of a namespace, which is created if it is missing. The queue is not open
        yet. Without Kueue, the test is skipped."""
        queue = cls(api, namespace, name)
        if not queue.version:
            pytest.skip("this cluster has no Kueue; make test-kubernetes starts one that has")
        if api.find(f"{NAMESPACES}/{namespace}") is None:
            api.create(NAMESPACES, {"metadata": {"name": namespace}})
        return queue

    def open(self, *, seats: int) -> None:
        """Create the queue, or change the number of its seats."""
        self._apply("ResourceFlavor", self._path("resourceflavors"), self._cluster_queue, {})
        resources = [
            {"name": "cpu", "nominalQuota": f"{SEAT * seats}m"},
            {"name": "memory", "nominalQuota": "100Gi"},
        ]
        group = {
            "coveredResources": ["cpu", "memory"],
            "flavors": [{"name": self._cluster_queue, "resources": resources}],
        }
        spec = {
            "namespaceSelector": {},
            "stopPolicy": "None",
            "preemption": {"withinClusterQueue": "LowerPriority"},
            "resourceGroups": [group],
        }
        self._apply("ClusterQueue", self._path("clusterqueues"), self._cluster_queue, spec)
        self._apply("LocalQueue", self._local, self._name, {"clusterQueue": self._cluster_queue})
        wait_for(self._is_active, 60, "the queue to be active", every=0.1)

    def hold(self, policy: str) -> None:
        """Stop the queue: ``HoldAndDrain`` evicts, ``Hold`` does not, ``None`` opens it again."""
        change = {"spec": {"stopPolicy": policy}}
        self._api.merge(f"{self._path('clusterqueues')}/{self._cluster_queue}", change)

    def activate(self, entry: QueuedJob) -> None:
        """Activate a Workload of Kueue that was deactivated."""
        path = workloads_path(self.version, self._namespace, entry.name)
        self._api.merge(path, {"spec": {"active": True}})

    def close(self) -> None:
        self._api.delete(f"{self._local}/{self._name}")
        self._api.delete(f"{self._path('clusterqueues')}/{self._cluster_queue}")
        self._api.delete(f"{self._path('resourceflavors')}/{self._cluster_queue}")

    def taken(self) -> int:
        """Return the number of seats that count as taken."""
        status = self._api.get(f"{self._path('clusterqueues')}/{self._cluster_queue}")["status"]
        totals = [
            resource["total"]
            for flavor in status.get("flavorsReservation") or ()
            for resource in flavor["resources"]
            if resource["name"] == "cpu"
        ]
        return sum(map(_millicores, totals)) // SEAT

    def entries(self) -> list[QueuedJob]:
        """Return Kueue's Workloads in the namespace."""
        items = self._api.items(workloads_path(self.version, self._namespace))
        return [QueuedJob(item) for item in items]

    @property
    def _local(self) -> str:
        return f"/apis/{KUEUE}/{self.version}/namespaces/{self._namespace}/localqueues"

    def _path(self, plural: str) -> str:
        return f"/apis/{KUEUE}/{self.version}/{plural}"

    def _apply(self, kind: str, path: str, name: str, spec: Manifest) -> None:
        item = {"apiVersion": f"{KUEUE}/{self.version}", "kind": kind, "metadata": {"name": name}}
        self._api.apply(f"{path}/{name}", item | {"spec": spec})

    def _is_active(self) -> bool:
        local = self._api.get(f"{self._local}/{self._name}")
        conditions: Iterable[Any] = (local.get("status") or {}).get("conditions") or ()
        return any(it["type"] == "Active" and it["status"] == "True" for it in conditions)


def _millicores(quantity: str) -> int:
    return int(quantity[:-1]) if quantity.endswith("m") else 1000 * int(quantity)


def create_priorities(api: Api) -> None:
    """Create the PriorityClasses that the tests name."""
    path = "/apis/scheduling.k8s.io/v1/priorityclasses"
    for name, value in PRIORITIES.items():
        item = {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
        }
        api.apply(f"{path}/{name}", item)
