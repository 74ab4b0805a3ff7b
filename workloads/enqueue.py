"""Asking a worker for something, after the commit. Tasks are named here and defined in ``tasks``.

A broker that is down loses nothing: the sweep looks at the rows every few seconds and asks again.
"""

from uuid import UUID

from clusters.models import Cluster
from core.broker.enqueue import MONITOR, SUBMIT, Look, send, send_once, tell
from workloads.models import Workload

HAND_OVER, QUEUE_UP = "workloads.hand_over", "workloads.queue_up"


def submit(*workloads: Workload) -> None:
    """To their one cluster where that has a queue of its own, else to admission."""
    tell(None, look_for(workloads[0].cluster))


def look_for(cluster: Cluster) -> Look:
    """What takes up workloads of this cluster."""
    return Look(HAND_OVER if cluster.capabilities.queues else QUEUE_UP, cluster.pk, SUBMIT)


def hand_over(cluster_id: UUID) -> None:
    """One message for all that is committed until a worker has looked."""
    send_once(HAND_OVER, cluster_id, SUBMIT)


def queue_up(cluster_id: UUID) -> None:
    """The same where Trainyard decides what starts when."""
    send_once(QUEUE_UP, cluster_id, SUBMIT)


def launch(workload_id: UUID) -> None:
    send("workloads.launch", workload_id, SUBMIT)


def stop(workload_id: UUID) -> None:
    send("workloads.stop", workload_id, SUBMIT)


def delete(workload_id: UUID) -> None:
    send("workloads.delete", workload_id, SUBMIT)


def admit(cluster_id: UUID) -> None:
    send("workloads.admit", cluster_id, SUBMIT)


def monitor(cluster_id: UUID) -> None:
    send("workloads.monitor_cluster", cluster_id, MONITOR)
