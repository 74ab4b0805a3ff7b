"""How much of a cluster is there, and how much of it is free now."""

from django.db.models import Max

from clusters.models import Cluster, Node
from spec.errors import SpecError
from spec.workload import WorkloadSpec
from workloads.models import Workload
from workloads.scheduling.placement import Placement, Room, portion_of, total


def whole(cluster: Cluster) -> Room:
    """Everything the cluster's ready machines have."""
    return total(
        Room(node.cpu, node.memory, {gpu.index: 1.0 for gpu in node.gpus})
        for node in cluster.nodes.all()
        if node.ready
    )


def free(cluster: Cluster) -> Room:
    """What is left beside the workloads that are there."""
    room = whole(cluster)
    there = Workload.objects.occupying().filter(cluster=cluster).prefetch_related("ranks")
    for workload in there:
        placement = {rank.rank: tuple(rank.gpu_devices) for rank in workload.ranks.all()}
        try:
            occupy(room, workload.spec, placement, cluster.gpu_memory)
        except SpecError:
            _occupy_unread(room, workload, placement)
    return room


def lacking(cluster: Cluster, spec: WorkloadSpec) -> str:
    """Why no node that is known could take one of the pods, however empty it is; empty where one
    could. Of a cluster that queues itself, where it is no refusal: nodes may yet be added."""
    wanted = max(pod.replica.compute.gpu_devices_request for pod in spec.pods)
    if not wanted or not cluster.capabilities.queues:
        return ""
    nodes = Node.objects.filter(cluster=cluster)
    if not nodes.exists():
        return ""
    groups = [nodes.in_pool(name) for name in spec.node_pools] or [nodes]
    most = max(group.aggregate(most=Max("gpu_count"))["most"] or 0 for group in groups)
    if wanted <= most:
        return ""
    where = f"the node pools {', '.join(spec.node_pools)}" if spec.node_pools else cluster.name
    have = f"{wanted} GPUs for a pod, the most is {most}" if most else "GPUs"
    return (
        f"No node of {where} has {have}. It waits until such nodes are added: choose another "
        "compute resource or cluster, or ask the cluster's administrator."
    )


def _occupy_unread(room: Room, workload: Workload, placement: Placement) -> None:
    """What it was counted for when it was submitted; of the devices it was given all."""
    room.take(workload.cpu_cores, workload.memory_bytes, {})
    for devices in placement.values():
        room.take(0, 0, dict.fromkeys(devices, 1.0))


def occupy(room: Room, spec: WorkloadSpec, placement: Placement, device_memory: int) -> None:
    """Take what a placed gang needs out of ``room``."""
    room.take(spec.cpu_cores, spec.memory_bytes, {})
    for pod in spec.pods:
        portion = portion_of(pod.replica.compute, device_memory)
        room.take(0, 0, dict.fromkeys(placement.get(pod.rank, ()), portion))
