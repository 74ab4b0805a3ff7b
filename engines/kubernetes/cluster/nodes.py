"""The nodes of a cluster: their resources, and what the pods on them request."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from threading import Lock

from engines.base import EngineError, EngineRefused, Manifest
from engines.kubernetes.client.api import Api
from engines.kubernetes.jobs import GPU
from engines.kubernetes.labels import WORKLOAD
from engines.kubernetes.manifests.pod.requests import amount, asked, total
from engines.kubernetes.status.conditions import condition
from engines.nodes import Allocation, Condition, Gpu, NodeInfo, Taint

MIB = 1024**2
PODS = "/api/v1/pods"
OVER = ("Succeeded", "Failed")
PLACED = "spec.nodeName!=," + ",".join(f"status.phase!={phase}" for phase in OVER)
FRESH = 1.0  # seconds
SHARE = 0.01  # share of the time that may go into reading pods
EVERY_SECONDS = 30.0  # seconds between two sums of their requests, at least
Held = dict[str, Allocation]


class Inventory:
    """Reads nodes and the requests of their pods. There may be many pods, so they are read as often
    as is cheap, and ``ours`` come from the watch, if there is one."""

    def __init__(self, api: Api, ours: Callable[[], Iterable[Manifest] | None]) -> None:
        self._api = api
        self._ours = ours
        self._nodes: tuple[NodeInfo, ...] = ()
        self._stale = 0.0
        self._held: Held | None = None
        self._requests = PodRequests()
        self._again = 0.0
        self._counted_at = datetime.now(UTC)
        self._reading = Lock()

    def nodes(self) -> tuple[NodeInfo, ...]:
        """Nodes that are at most ``FRESH`` seconds old, so that simultaneous callers read them
        once."""
        with self._reading:
            if time.monotonic() >= self._stale:
                held = self._allocations()
                items = self._api.everything("/api/v1/nodes")
                self._nodes = tuple(node(item, held, self._counted_at) for item in items)
                self._stale = time.monotonic() + FRESH
            return self._nodes

    def last(self) -> tuple[NodeInfo, ...]:
        """Nodes as last read, which the monitor does often; empty if they cannot be read."""
        if not self._nodes:
            with suppress(EngineError):
                return self.nodes()
        return self._nodes

    def _allocations(self) -> Held | None:
        """Requests by node; ``None`` if we may not list all pods."""
        started = time.monotonic()
        if started < self._again:
            return self._held
        self._counted_at = datetime.now(UTC)
        try:
            self._held = allocations(self._api, self._ours(), self._requests)
        except EngineRefused:
            self._held = None
        ended = time.monotonic()
        self._again = ended + max((ended - started) / SHARE, EVERY_SECONDS)
        return self._held


class PodRequests:
    """Caches pods' requests, because few of them change between two sums."""

    def __init__(self) -> None:
        self._before: dict[
            str, tuple[str, Allocation]
        ] = {}  # by uid: its version, what it asks for
        self._now: dict[str, tuple[str, Allocation]] = {}

    def by(self, pod: Manifest) -> Allocation:
        uid = pod["metadata"]["uid"]
        version = pod["metadata"]["resourceVersion"]
        entry = self._before.get(uid)
        if entry is None or entry[0] != version:
            entry = version, asked(pod)
        self._now[uid] = entry
        return entry[1]

    def end_sum(self) -> None:
        """Forget pods that were not part of the sum."""
        self._before = self._now
        self._now = {}


def allocations(
    api: Api, ours: Iterable[Manifest] | None = None, each: PodRequests | None = None
) -> Held:
    """Requests of all pods by node, whoever created them. ``ours`` are those of workloads, if
    known."""
    each = each or PodRequests()
    parts_by_node: dict[str, list[Allocation]] = defaultdict(list)
    others = {} if ours is None else {"labelSelector": f"!{WORKLOAD}"}
    for pod in api.everything(PODS, fieldSelector=PLACED, **others):
        parts_by_node[pod["spec"]["nodeName"]].append(each.by(pod))
    for pod in ours or ():
        if pod["spec"].get("nodeName") and pod["status"].get("phase") not in OVER:
            parts_by_node[pod["spec"]["nodeName"]].append(each.by(pod))
    each.end_sum()
    return {name: total(parts) for name, parts in parts_by_node.items()}


def node(item: Manifest, held: Held | None = None, at: datetime | None = None) -> NodeInfo:
    """A node with its allocatable resources, and what pods ``held`` of them ``at`` a time."""
    room = item["status"].get("allocatable") or {}
    labels = item["metadata"].get("labels") or {}
    ready, message = _readiness(item)
    name = item["metadata"]["name"]
    model = labels.get(f"{GPU}.product", "NVIDIA GPU").replace("-", " ")
    memory = _whole(labels.get(f"{GPU}.memory", "")) * MIB
    return NodeInfo(
        name=name,
        cpu=float(amount(room.get("cpu", "0"))),
        memory=int(amount(room.get("memory", "0"))),
        gpus=tuple(Gpu(index, model, memory) for index in range(int(room.get(GPU, "0")))),
        ready=ready,
        message=message,
        labels=labels,
        resources=tuple(sorted(name for name in room if "/" in name)),
        taints=tuple(
            Taint(taint["key"], taint.get("value", ""), taint["effect"])
            for taint in item["spec"].get("taints") or ()
        ),
        conditions=tuple(_condition(one) for one in item["status"].get("conditions") or ()),
        allocated=None if held is None else held.get(name, Allocation(0, 0, 0)),
        counted_at=None if held is None else at,
    )


def _whole(text: str) -> int:
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
