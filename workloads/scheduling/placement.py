"""Where the ranks of a gang fit on one machine. Pure: numbers in, devices out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from spec.compute import Compute
from spec.workload import WorkloadSpec

TINY = 1e-6  # portions are floats; a tenth ten times is not quite one

Placement = dict[int, tuple[int, ...]]


@dataclass
class Room:
    """What is free: CPU in cores, memory in bytes, and the free portion of each GPU by index."""

    cpu: float
    memory: int
    gpus: dict[int, float] = field(default_factory=dict)

    def take(self, cpu: float, memory: int, gpus: Mapping[int, float]) -> None:
        self.cpu -= cpu
        self.memory -= memory
        for index, portion in gpus.items():
            self.gpus[index] = self.gpus.get(index, 0.0) - portion

    def copy(self) -> "Room":
        return Room(self.cpu, self.memory, dict(self.gpus))


def portion_of(compute: Compute, device_memory: int) -> float:
    """The part of one device that a pod takes; whole devices count 1 each."""
    return min(compute.gpus(device_memory), 1.0) if compute.gpu_request_type else 1.0


def place(spec: WorkloadSpec, room: Room, *, device_memory: int) -> Placement | None:
    """Devices for every rank, or ``None`` when the whole gang does not fit. Ranks without GPUs
    get an empty tuple.

    Portions go to the fullest device that still has room, so that whole devices stay free;
    the largest demands are placed first.
    """
    if spec.cpu_cores > room.cpu + TINY or spec.memory_bytes > room.memory:
        return None
    free, chosen = dict(room.gpus), {}
    pods = sorted(spec.pods, key=lambda pod: -pod.replica.compute.gpus(device_memory))
    for pod in pods:
        compute = pod.replica.compute
        portion = portion_of(compute, device_memory)
        devices = _pick(free, compute.gpu_devices_request, portion)
        if devices is None:
            return None
        for device in devices:
            free[device] -= portion
        chosen[pod.rank] = devices
    return chosen


def _pick(free: Mapping[int, float], count: int, portion: float) -> tuple[int, ...] | None:
    fitting = [index for index, room in free.items() if room + TINY >= portion]
    fitting.sort(key=lambda index: (free[index], index))
    return tuple(fitting[:count]) if len(fitting) >= count else None


def blockers(spec: WorkloadSpec, room: Room, *, device_memory: int) -> list[str]:
    """Why the gang does not fit, in words and numbers."""
    reasons = []
    if spec.cpu_cores > room.cpu + TINY:
        reasons.append(f"{spec.cpu_cores:g} CPU cores requested, {max(room.cpu, 0):g} free")
    if spec.memory_bytes > room.memory:
        gb = 1000**3
        asked, free = spec.memory_bytes / gb, max(room.memory, 0) / gb
        reasons.append(f"{asked:.3g} GB of memory requested, {free:.3g} GB free")
    asked_gpus, free_gpus = spec.gpus(device_memory), round(sum(room.gpus.values()), 4)
    if asked_gpus > free_gpus + TINY:
        reasons.append(f"{asked_gpus:g} GPUs requested, {max(free_gpus, 0):g} free")
    if not reasons and place(spec, room, device_memory=device_memory) is None:
        reasons.append(
            f"{asked_gpus:g} GPUs requested, {free_gpus:g} free but spread over several devices"
        )
    return reasons


def total(rooms: Iterable[Room]) -> Room:
    """Rooms of several machines as one. Right for one machine; a cluster of many queues itself."""
    whole = Room(0.0, 0)
    for room in rooms:
        whole.take(-room.cpu, -room.memory, {i: -free for i, free in room.gpus.items()})
    return whole
