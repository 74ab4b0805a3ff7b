"""The nodes of a cluster: their resources, and what the pods on them request."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from threading import Lock

from engines.base import EngineError, EngineRefused, Manifest
from engines.kubernetes.amounts import parse_amount
from engines.kubernetes.client.api import Api
from engines.kubernetes.jobs import GPU
from engines.kubernetes.labels import WORKLOAD
from engines.kubernetes.manifests.pod.requests import add_up, pod_requests
from engines.kubernetes.status.conditions import condition
from engines.nodes import Allocation, Condition, Gpu, NodeInfo, Taint

MIB = 1024**2
PODS = "/api/v1/pods"
ENDED_PHASES = ("Succeeded", "Failed")
PLACED = "spec.nodeName!=," + ",".join(f"status.phase!={phase}" for phase in ENDED_PHASES)
FRESH_SECONDS = 1.0  # seconds
TIME_SHARE = 0.01  # share of the time that may go into reading pods
EVERY_SECONDS = 30.0  # seconds between two sums of their requests, at least
Allocations = dict[str, Allocation]


class Inventory:
    """Reads nodes and the requests of their pods. There may be many pods, so they are read as often
    as is cheap, and ``ours`` come from the watch, if there is one."""

    def __init__(self, api: Api, ours: Callable[[], Iterable[Manifest] | None]) -> None:
        self._api = api
        self._ours = ours
        self._nodes: tuple[NodeInfo, ...] = ()
        self._stale_at = 0.0
        self._allocations_by_node: Allocations | None = None
        self._requests = PodRequests()
        self._count_again_at = 0.0
        self._counted_at = datetime.now(UTC)
        self._reading = Lock()

    def nodes(self) -> tuple[NodeInfo, ...]:
        """Return nodes as they were at most ``FRESH_SECONDS`` ago. Callers at the same time share
        one request."""
        with self._reading:
            if time.monotonic() >= self._stale_at:
                held = self._read_allocations()
                items = self._api.all_items("/api/v1/nodes")
                self._nodes = tuple(node_info(item, held, self._counted_at) for item in items)
                self._stale_at = time.monotonic() + FRESH_SECONDS
            return self._nodes

    def last(self) -> tuple[NodeInfo, ...]:
        """Nodes as last read, which the monitor does often; empty if they cannot be read."""
        if not self._nodes:
            with suppress(EngineError):
                return self.nodes()
        return self._nodes

    def _read_allocations(self) -> Allocations | None:
        """Requests by node; ``None`` if we may not list all pods."""
        started = time.monotonic()
        if started < self._count_again_at:
            return self._allocations_by_node
        self._counted_at = datetime.now(UTC)
        try:
            self._allocations_by_node = allocations(self._api, self._ours(), self._requests)
        except EngineRefused:
            self._allocations_by_node = None
        ended = time.monotonic()
        self._count_again_at = ended + max((ended - started) / TIME_SHARE, EVERY_SECONDS)
        return self._allocations_by_node


class PodRequests:
    """Caches pods' requests, because few of them change between two sums."""

    def __init__(self) -> None:
        self._previous_sum: dict[
            str, tuple[str, Allocation]
        ] = {}  # by uid: its version, what it asks for
        self._present_sum: dict[str, tuple[str, Allocation]] = {}

    def requests_of(self, pod: Manifest) -> Allocation:
        uid = pod["metadata"]["uid"]
        version = pod["metadata"]["resourceVersion"]
        entry = self._previous_sum.get(uid)
        if entry is None or entry[0] != version:
            entry = version, pod_requests(pod)
        self._present_sum[uid] = entry
        return entry[1]

    def end_sum(self) -> None:
        """Forget pods that were not part of the sum."""
        self._previous_sum = self._present_sum
        self._present_sum = {}


def allocations(
    api: Api, ours: Iterable[Manifest] | None = None, each: PodRequests | None = None
) -> Allocations:
    """Return what all pods request, by node, including pods that are not Trainyard's. ``ours`` are
    the pods of workloads, if a watch knows them."""
    each = each or PodRequests()
    parts_by_node: dict[str, list[Allocation]] = defaultdict(list)
    others = {} if ours is None else {"labelSelector": f"!{WORKLOAD}"}
    for pod in api.all_items(PODS, fieldSelector=PLACED, **others):
        parts_by_node[pod["spec"]["nodeName"]].append(each.requests_of(pod))
    for pod in ours or ():
        if pod["spec"].get("nodeName") and pod["status"].get("phase") not in ENDED_PHASES:
            parts_by_node[pod["spec"]["nodeName"]].append(each.requests_of(pod))
    each.end_sum()
    return {name: add_up(parts) for name, parts in parts_by_node.items()}


def node_info(
    item: Manifest, held: Allocations | None = None, at: datetime | None = None
) -> NodeInfo:
    """A node with its allocatable resources, and what pods ``held`` of them ``at`` a time."""
    room = item["status"].get("allocatable") or {}
    labels = item["metadata"].get("labels") or {}
    ready, message = _readiness(item)
    name = item["metadata"]["name"]
    model = labels.get(f"{GPU}.product", "NVIDIA GPU").replace("-", " ")
    memory = _parse_number(labels.get(f"{GPU}.memory", "")) * MIB
    return NodeInfo(
        name=name,
        cpu=float(parse_amount(room.get("cpu", "0"))),
        memory=int(parse_amount(room.get("memory", "0"))),
        gpus=tuple(Gpu(index, model, memory) for index in range(int(room.get(GPU, "0")))),
        ready=ready,
        message=message,
        labels=labels,
        resources={name: float(parse_amount(room[name])) for name in room if "/" in name},
        taints=tuple(
            Taint(taint["key"], taint.get("value", ""), taint["effect"])
            for taint in item["spec"].get("taints") or ()
        ),
        conditions=tuple(_condition(one) for one in item["status"].get("conditions") or ()),
        allocated=None if held is None else held.get(name, Allocation(0, 0, 0)),
        counted_at=None if held is None else at,
    )


def _parse_number(text: str) -> int:
    """A number from a label, which may contain anything."""
    return int(text) if text.isdecimal() else 0


def _condition(item: Manifest) -> Condition:
    return Condition(item["type"], item["status"], item.get("reason", ""), item.get("message", ""))


def _readiness(item: Manifest) -> tuple[bool, str]:
    state = condition(item["status"], "Ready")
    if state.get("status") != "True":
        return False, state.get("message") or "The node does not report its status."
    if item["spec"].get("unschedulable"):
        return False, "Cordoned: no new pods are scheduled on it."
    return True, ""
