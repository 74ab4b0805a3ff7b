"""The nodes of a cluster: what they have, and what the pods on them asked for."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from decimal import Decimal
from functools import lru_cache
from threading import Lock

from engines.base import (
    Allocation,
    Condition,
    EngineError,
    EngineRefused,
    Gpu,
    Manifest,
    Node,
    Taint,
)
from engines.kubernetes.api import Api
from engines.kubernetes.kinds import GPU, WORKLOAD
from engines.kubernetes.pods import condition
from spec.quantities import UNITS

MIB = 1024**2
PODS = "/api/v1/pods"
OVER = ("Succeeded", "Failed")
PLACED = "spec.nodeName!=," + ",".join(f"status.phase!={phase}" for phase in OVER)
FRESH = 1.0  # seconds
SHARE = 0.01  # of the time, at most, goes into reading the pods of a cluster
EVERY_SECONDS = 30.0  # at least between two sums of what they asked for
SMALL = {"m": 10**3, "u": 10**6, "n": 10**9}
Held = dict[str, Allocation]


class Inventory:
    """The pods on the nodes may be many: they are read as often as that is cheap, and of ``ours``
    none as long as a watch knows them."""

    def __init__(self, api: Api, ours: Callable[[], Iterable[Manifest] | None]) -> None:
        self._api, self._ours = api, ours
        self._nodes: tuple[Node, ...] = ()
        self._stale = 0.0
        self._held: Held | None = None
        self._again = 0.0
        self._reading = Lock()

    def nodes(self) -> tuple[Node, ...]:
        """At most ``FRESH`` seconds old, so that those who ask together read them once."""
        with self._reading:
            if time.monotonic() >= self._stale:
                held = self._allocations()
                found = self._api.everything("/api/v1/nodes")
                self._nodes = tuple(node(item, held) for item in found)
                self._stale = time.monotonic() + FRESH
            return self._nodes

    def last(self) -> tuple[Node, ...]:
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
        try:
            self._held = allocations(self._api, self._ours())
        except EngineRefused:
            self._held = None
        ended = time.monotonic()
        self._again = ended + max((ended - started) / SHARE, EVERY_SECONDS)
        return self._held


def allocations(api: Api, ours: Iterable[Manifest] | None = None) -> Held:
    """By node, what the pods there asked for: all pods, whoever made them. ``ours`` are those of
    workloads, where they are known."""
    found: dict[str, list[Allocation]] = defaultdict(list)
    others = {} if ours is None else {"labelSelector": f"!{WORKLOAD}"}
    for pod in api.everything(PODS, fieldSelector=PLACED, **others):
        found[pod["spec"]["nodeName"]].append(asked(pod))
    for pod in ours or ():
        if pod["spec"].get("nodeName") and pod["status"].get("phase") not in OVER:
            found[pod["spec"]["nodeName"]].append(asked(pod))
    return {name: _sum(parts) for name, parts in found.items()}


def asked(pod: Manifest) -> Allocation:
    """What the scheduler counts: all containers at once, or the largest that runs before them."""
    spec = pod["spec"]
    together = _sum([_requests(container) for container in spec["containers"]])
    for before in map(_requests, spec.get("initContainers") or ()):
        together = Allocation(
            max(together.cpu, before.cpu),
            max(together.memory, before.memory),
            max(together.gpus, before.gpus),
        )
    notes = pod["metadata"].get("annotations") or {}
    parts = [together, _amounts(spec.get("overhead") or {}), Allocation(0, 0, _portion(notes))]
    return _sum(parts)


def _requests(container: Manifest) -> Allocation:
    return _amounts(container.get("resources", {}).get("requests") or {})


def _amounts(found: dict[str, str]) -> Allocation:
    return Allocation(
        cpu=float(amount(found.get("cpu", "0"))),
        memory=int(amount(found.get("memory", "0"))),
        gpus=float(amount(found.get(GPU, "0"))),
    )


def _portion(annotations: dict[str, str]) -> float:
    """Parts of GPUs, which KAI shares out by annotations."""
    try:
        devices = int(annotations.get("gpu-fraction-num-devices", "1"))
        return float(annotations.get("gpu-fraction", "0")) * devices
    except ValueError:
        return 0.0


def _sum(parts: list[Allocation]) -> Allocation:
    return Allocation(
        cpu=round(sum(part.cpu for part in parts), 6),
        memory=sum(part.memory for part in parts),
        gpus=sum(part.gpus for part in parts),
    )


def node(item: Manifest, held: Held | None = None) -> Node:
    """A node with what pods may have of it."""
    room, labels = item["status"].get("allocatable") or {}, item["metadata"].get("labels") or {}
    ready, message = _readiness(item)
    name = item["metadata"]["name"]
    model = labels.get(f"{GPU}.product", "NVIDIA GPU").replace("-", " ")
    memory = _whole(labels.get(f"{GPU}.memory", "")) * MIB
    return Node(
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
        conditions=tuple(_condition(found) for found in item["status"].get("conditions") or ()),
        allocated=None if held is None else held.get(name, Allocation(0, 0, 0)),
    )


def _whole(text: str) -> int:
    """A label is whatever somebody wrote there."""
    return int(text) if text.isdecimal() else 0


def _condition(found: Manifest) -> Condition:
    return Condition(
        found["type"], found["status"], found.get("reason", ""), found.get("message", "")
    )


def _readiness(item: Manifest) -> tuple[bool, str]:
    state = condition(item["status"], "Ready")
    if state.get("status") != "True":
        return False, state.get("message") or "The node does not report its state."
    if item["spec"].get("unschedulable"):
        return False, "Cordoned: no new pods are scheduled on it."
    return True, ""


@lru_cache(maxsize=4096)
def amount(text: str) -> Decimal:
    """A quantity as API servers write it: ``1900m``, ``8046488Ki``, ``2``, ``1e3``."""
    for suffix, factor in sorted(UNITS.items(), key=lambda unit: -len(unit[0])):
        if suffix and text.endswith(suffix):
            return Decimal(text.removesuffix(suffix)) * factor
    for suffix, parts in SMALL.items():
        if text.endswith(suffix):
            return Decimal(text.removesuffix(suffix)) / parts
    return Decimal(text)
