"""The nodes of a cluster: what they have, and what the pods on them asked for."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from threading import Lock

from engines.base import EngineError, EngineRefused, Manifest
from engines.kubernetes.client.api import Api
from engines.kubernetes.jobs import GPU, WORKLOAD
from engines.kubernetes.manifests.pod.requests import amount, asked, total
from engines.kubernetes.status.conditions import condition
from engines.nodes import Allocation, Condition, Gpu, NodeInfo, Taint

MIB = 1024**2
PODS = "/api/v1/pods"
OVER = ("Succeeded", "Failed")
PLACED = "spec.nodeName!=," + ",".join(f"status.phase!={phase}" for phase in OVER)
FRESH = 1.0  # seconds
SHARE = 0.01  # of the time, at most, goes into reading the pods of a cluster
EVERY_SECONDS = 30.0  # at least between two sums of what they asked for
Held = dict[str, Allocation]


class Inventory:
    """The pods on the nodes may be many: they are read as often as that is cheap, and of ``ours``
    none as long as a watch knows them."""

    def __init__(self, api: Api, ours: Callable[[], Iterable[Manifest] | None]) -> None:
        self._api, self._ours = api, ours
        self._nodes: tuple[NodeInfo, ...] = ()
        self._stale = 0.0
        self._held: Held | None = None
        self._requests = PodRequests()
        self._again, self._counted_at = 0.0, datetime.now(UTC)
        self._reading = Lock()

    def nodes(self) -> tuple[NodeInfo, ...]:
        """At most ``FRESH`` seconds old, so that those who ask together read them once."""
        with self._reading:
            if time.monotonic() >= self._stale:
                held = self._allocations()
                items = self._api.everything("/api/v1/nodes")
                self._nodes = tuple(node(item, held, self._counted_at) for item in items)
                self._stale = time.monotonic() + FRESH
            return self._nodes

    def last(self) -> tuple[NodeInfo, ...]:
        """As they were read the last time, which the monitor does often; empty where that cannot
        be."""
        if not self._nodes:
            with suppress(EngineError):
                return self.nodes()
        return self._nodes

    def _allocations(self) -> Held | None:
        """``None`` where we may not look at other people's pods."""
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
    """What pods ask for, each read once: few of them change between two sums."""

    def __init__(self) -> None:
        self._before: dict[
            str, tuple[str, Allocation]
        ] = {}  # by uid: its version, what it asks for
        self._now: dict[str, tuple[str, Allocation]] = {}

    def by(self, pod: Manifest) -> Allocation:
        uid, version = pod["metadata"]["uid"], pod["metadata"]["resourceVersion"]
        entry = self._before.get(uid)
        if entry is None or entry[0] != version:
            entry = version, asked(pod)
        self._now[uid] = entry
        return entry[1]

    def end_sum(self) -> None:
        """Pods that it did not meet are gone."""
        self._before, self._now = self._now, {}


def allocations(
    api: Api, ours: Iterable[Manifest] | None = None, each: PodRequests | None = None
) -> Held:
    """By node, what the pods there asked for: all pods, whoever made them. ``ours`` are those of
    workloads, where they are known."""
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
    """A node with what pods may have of it, and what they held of it ``at`` a time."""
    room, labels = item["status"].get("allocatable") or {}, item["metadata"].get("labels") or {}
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
    """A label is whatever somebody wrote there."""
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
