"""Count how many pods of a gang fit onto groups of equal nodes. Pure numbers.

Pods of one role are equal, so a node takes as many as its scarcest resource allows, and their order
does not matter. A gang has at most one master: at best it goes to the node where it costs the
fewest workers; a scheduler that does not look ahead may choose the worst.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from spec.parts.compute import Compute
from spec.workload import MAX_WORKERS
from workloads.scheduling.placement import TINY, portion_of

NOWHERE = -1  # result if the master does not fit
MOST = MAX_WORKERS + 1


@dataclass(frozen=True)
class Ask:
    """Requests of a pod: a ``portion`` of each of so many ``devices``, CPU and memory."""

    cpu: float
    memory: int
    devices: int = 0
    portion: float = 1.0

    @classmethod
    def of(cls, compute: Compute, device_memory: int) -> "Ask":
        return cls(
            compute.cpu_core_request,
            compute.memory_bytes,
            compute.gpu_devices_request,
            portion_of(compute, device_memory),
        )


class Free(NamedTuple):
    """What is free on a node. ``devices`` are the free portions of its GPUs."""

    cpu: float
    memory: int
    devices: tuple[float, ...] = ()

    def room(self, ask: Ask) -> int:
        """How many such pods fit at the same time."""
        most = MOST
        if ask.devices:
            most = min(most, self._devices(ask))
        if ask.cpu:
            most = min(most, int((self.cpu + TINY) // ask.cpu))
        if ask.memory:
            most = min(most, self.memory // ask.memory)
        return max(most, 0)

    def _devices(self, ask: Ask) -> int:
        if ask.portion >= 1 - TINY:
            return _unshared(self.devices) // ask.devices
        return sum(int((free + TINY) // ask.portion) for free in self.devices)

    def without(self, ask: Ask, pods: int = 1) -> "Free":
        """What remains after placing ``pods``, each on the fullest devices with enough room."""
        devices = sorted(self.devices)
        for _ in range(pods * ask.devices):
            at = next((n for n, free in enumerate(devices) if free + TINY >= ask.portion), None)
            if at is None:
                break
            devices[at] -= ask.portion
            devices.sort()
        cpu = self.cpu - pods * ask.cpu
        memory = self.memory - pods * ask.memory
        return Free(cpu, memory, tuple(devices))


@lru_cache(maxsize=4096)
def _unshared(devices: tuple[float, ...]) -> int:
    return sum(free >= 1 - TINY for free in devices)


class Spot(NamedTuple):
    """A number of ``nodes`` with equal free resources, and the roles that may use them."""

    nodes: int
    free: Free
    worker: bool = True
    master: bool = True


@dataclass(frozen=True)
class Packing:
    """The largest number of workers next to the master, if that is placed ``best``, and if
    worst."""

    best: int
    worst: int


def pack(spots: Iterable[Spot], worker: Ask, master: Ask | None) -> Packing:
    """Pack a gang. ``NOWHERE`` if the master does not fit."""
    total = 0
    alike = master == worker
    costs: list[int] = []
    for spot in spots:
        each = spot.free.room(worker) if spot.worker else 0
        total += spot.nodes * each
        if master is None or not spot.master:
            continue
        if alike and spot.worker:
            costs.extend([1] if each else ())
        elif spot.free.room(master):
            beside = spot.free.without(master).room(worker) if spot.worker else 0
            costs.append(max(each - beside, 0))
    if master is None:
        return Packing(total, total)
    if not costs:
        return Packing(NOWHERE, NOWHERE)
    return Packing(total - min(costs), total - max(costs))


def pack_together(domains: Sequence[Sequence[Spot]], worker: Ask, master: Ask | None) -> Packing:
    """Pack all pods into one domain. A scheduler that places pods one by one may choose any domain
    with room for the first."""
    packings = [pack(spots, worker, master) for spots in domains]
    placed = [packing for packing in packings if packing.best > 0]
    if not placed:
        return Packing(max((it.best for it in packings), default=NOWHERE), NOWHERE)
    return Packing(max(it.best for it in placed), min(it.worst for it in placed))
