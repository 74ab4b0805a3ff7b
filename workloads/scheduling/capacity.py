"""The total and free resources of a cluster."""

from collections.abc import Iterable

from clusters.models import Cluster, Node
from spec.problems.errors import SpecError
from spec.workload import WorkloadSpec
from workloads.models import Workload
from workloads.scheduling.placement import Placement, Room, portion_of, sum_rooms


def total_room(cluster: Cluster) -> Room:
    """All resources of the cluster's ready nodes."""
    nodes = _ready_nodes(cluster) if cluster.ready_nodes is None else cluster.ready_nodes
    return sum_rooms(Room(it.cpu, it.memory, {gpu.index: 1.0 for gpu in it.gpus}) for it in nodes)


def room_of_idle_machine(cluster: Cluster) -> Room:
    """All resources of a single machine, from the cluster's row without reading its node."""
    return Room(cluster.cpu, cluster.memory, dict.fromkeys(range(cluster.gpu_count), 1.0))


def load_ready_nodes(cluster: Cluster) -> None:
    """Load the nodes once for all later calls with this object."""
    cluster.ready_nodes = _ready_nodes(cluster)


def _ready_nodes(cluster: Cluster) -> list[Node]:
    return list(Node.objects.filter(cluster=cluster, ready=True).order_by())


def occupying_workloads(cluster: Cluster) -> list[Workload]:
    """Workloads that take up resources, loaded with project, department and ranks."""
    workloads = Workload.objects.occupying().filter(cluster=cluster)
    return list(workloads.select_related("project__department").prefetch_related("ranks"))


def free_room(cluster: Cluster, occupants: Iterable[Workload]) -> Room:
    """Resources that these workloads leave free."""
    room = total_room(cluster)
    for workload in occupants:
        placement = {rank.rank: tuple(rank.gpu_devices) for rank in workload.ranks.all()}
        try:
            occupy_room(room, workload.spec, placement, cluster.gpu_memory)
        except SpecError:
            _occupy_unreadable(room, workload, placement)
    return room


def _occupy_unreadable(room: Room, workload: Workload, placement: Placement) -> None:
    """Take a workload with an unreadable spec out of the room: the demand stored at its submission,
    and all of its devices."""
    room.take(workload.cpu_cores, workload.memory_bytes, {})
    for devices in placement.values():
        room.take(0, 0, dict.fromkeys(devices, 1.0))


def occupy_room(room: Room, spec: WorkloadSpec, placement: Placement, device_memory: int) -> None:
    """Take what a placed gang needs out of the room."""
    room.take(spec.cpu_cores, spec.memory_bytes, {})
    for pod in spec.pods:
        portion = portion_of(pod.replica.compute, device_memory)
        room.take(0, 0, dict.fromkeys(placement.get(pod.rank, ()), portion))
