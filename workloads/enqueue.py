"""Asking a worker for something, after the commit. Tasks are named here and defined in ``tasks``.

A broker that is down loses nothing: the sweep looks at the rows every few seconds and asks again.
"""

from uuid import UUID

from core.broker import enqueue
from core.broker.enqueue import MONITOR, SUBMIT, send, send_once
from workloads.models import Workload

HAND_OVER = "workloads.hand_over"


def submit(*workloads: Workload) -> None:
    """To their one cluster where that has a queue of its own, else to admission."""
    cluster = workloads[0].cluster
    if cluster.capabilities.queues:
        hand_over(cluster.pk)
        return
    for workload in workloads:
        start(workload.pk)


def start(workload_id: UUID) -> None:
    """Where Trainyard decides when it starts."""
    send("workloads.submit", workload_id, SUBMIT)


def hand_over(cluster_id: UUID) -> None:
    """One message for all that is committed until a worker has looked."""
    send_once(HAND_OVER, cluster_id, SUBMIT)


def looked(cluster_id: UUID) -> None:
    """A worker saw every row: what is committed from now on needs a message of its own."""
    enqueue.looked(HAND_OVER, cluster_id)


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
