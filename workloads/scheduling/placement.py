"""Place the ranks of a gang on one machine. Pure: numbers in, devices out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from spec.parts.compute import Compute
from spec.workload import WorkloadSpec

TINY = 1e-6  # tolerance: portions are floats, and ten tenths are not quite 1

Placement = dict[int, tuple[int, ...]]


@dataclass
class Room:
    """Free resources: CPU in cores, memory in bytes, and the free portion of each GPU by index."""

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

    def common(self, other: "Room") -> "Room":
        """Return what is free in both rooms."""
        gpus = {index: min(part, other.gpus.get(index, 0.0)) for index, part in self.gpus.items()}
        return Room(min(self.cpu, other.cpu), min(self.memory, other.memory), gpus)


@dataclass(frozen=True)
class Shape:
    """The demand of a gang: cores, bytes, and for each rank its number, the number of devices, and
    the portion of each, the largest first."""

    cpu: float
    memory: int
    ranks: tuple[tuple[int, int, float], ...]

    @classmethod
    def of(cls, spec: WorkloadSpec, device_memory: int) -> "Shape":
        computes = [(pod.rank, pod.replica.compute) for pod in spec.pods]
        computes.sort(key=lambda pair: -pair[1].gpus(device_memory))
        ranks = (
            (rank, compute.gpu_devices_request, portion_of(compute, device_memory))
            for rank, compute in computes
        )
        return cls(spec.cpu_cores, spec.memory_bytes, tuple(ranks))

    @property
    def wants_devices(self) -> bool:
        return any(count for _, count, _ in self.ranks)

    def occupy(self, room: Room, placement: Placement) -> None:
        """Take what the gang needs at these places out of the room."""
        self._take(room, placement, 1)

    def release(self, room: Room, placement: Placement) -> None:
        """Give back what :meth:`occupy` took."""
        self._take(room, placement, -1)

    def _take(self, room: Room, placement: Placement, sign: int) -> None:
        room.take(sign * self.cpu, sign * self.memory, {})
        for rank, _, portion in self.ranks:
            room.take(0, 0, dict.fromkeys(placement.get(rank, ()), sign * portion))


def portion_of(compute: Compute, device_memory: int) -> float:
    """Return the portion of each device that a pod takes; 1 for whole devices."""
    return min(compute.gpus(device_memory), 1.0) if compute.gpu_request_type else 1.0


def place_shape(shape: Shape, room: Room) -> Placement | None:
    """Choose devices for every rank; ``None`` if the gang does not fit as a whole. Ranks without
    GPUs get an empty tuple.

    A portion goes to the fullest device with enough room, so that whole devices stay free. The
    largest demands are placed first.
    """
    if shape.cpu > room.cpu + TINY or shape.memory > room.memory:
        return None
    return devices_for(shape, room.gpus)


def devices_for(shape: Shape, gpus: Mapping[int, float]) -> Placement | None:
    """Choose devices from ``gpus``, the free portion of each; ``None`` if they do not suffice."""
    free = dict(gpus)
    chosen = {}
    for rank, count, portion in shape.ranks:
        devices = _pick_devices(free, count, portion)
        if devices is None:
            return None
        for device in devices:
            free[device] -= portion
        chosen[rank] = devices
    return chosen


def _pick_devices(free: Mapping[int, float], count: int, portion: float) -> tuple[int, ...] | None:
    if not count:
        return ()
    fitting = [index for index, room in free.items() if room + TINY >= portion]
    fitting.sort(key=lambda index: (free[index], index))
    return tuple(fitting[:count]) if len(fitting) >= count else None


def shortages_of_gang(spec: WorkloadSpec, room: Room, *, device_memory: int) -> list[str]:
    """Return why the gang does not fit, in words with numbers."""
    return shortages_of_shape(Shape.of(spec, device_memory), room, spec.gpus(device_memory))


def shortages_of_shape(shape: Shape, room: Room, gpus: float) -> list[str]:
    """Like :func:`shortages_of_gang`, for a shape; ``gpus`` is the demand of the whole gang."""
    reasons = []
    if shape.cpu > room.cpu + TINY:
        reasons.append(f"{shape.cpu:g} CPU cores requested, {max(room.cpu, 0):g} free")
    if shape.memory > room.memory:
        requested = _gigabytes(shape.memory)
        free = _gigabytes(max(room.memory, 0))
        reasons.append(f"{requested} GB of memory requested, {free} GB free")
    free_gpus = round(sum(room.gpus.values()), 4)
    if gpus > free_gpus + TINY:
        reasons.append(f"{gpus:g} GPUs requested, {max(free_gpus, 0):g} free")
    if not reasons and place_shape(shape, room) is None:
        reasons.append(
            f"{gpus:g} GPUs requested, {free_gpus:g} free but spread over several devices"
        )
    return reasons


def _gigabytes(size: int) -> str:
    number = size / 1000**3
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def sum_rooms(rooms: Iterable[Room]) -> Room:
    """Add up rooms. The sum is only meaningful for a single machine; larger clusters have queues of
    their own."""
    sum_of_rooms = Room(0.0, 0)
    for room in rooms:
        sum_of_rooms.take(-room.cpu, -room.memory, {i: -free for i, free in room.gpus.items()})
    return sum_of_rooms
