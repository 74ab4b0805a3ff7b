"""How much of a cluster is there, and how much of it is free now."""

from clusters.models import Cluster
from workloads.models import Workload
from workloads.placement import Room, portion_of, total


def whole(cluster: Cluster) -> Room:
    """Everything the cluster's ready machines have."""
    return total(
        Room(node.cpu, node.memory, {gpu.index: 1.0 for gpu in node.gpus})
        for node in cluster.nodes.all()
        if node.ready
    )


def free(cluster: Cluster) -> Room:
    """What is left beside the workloads that hold something."""
    room, device_memory = whole(cluster), cluster.gpu_memory
    for workload in Workload.objects.holding().filter(cluster=cluster).prefetch_related("ranks"):
        _take(room, workload, device_memory)
    return room


def _take(room: Room, workload: Workload, device_memory: int) -> None:
    computes = {pod.rank: pod.replica.compute for pod in workload.spec.pods}
    room.take(workload.cpu_cores, workload.memory_bytes, {})
    for rank in workload.ranks.all():
        portion = portion_of(computes[rank.rank], device_memory)
        room.take(0, 0, dict.fromkeys(rank.gpu_devices, portion))
