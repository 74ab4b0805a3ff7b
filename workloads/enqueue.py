"""Send tasks to the worker after the commit. They are named here and defined in ``tasks.py``.

If the broker is down nothing is lost: the sweep looks at the rows every few seconds and sends the
tasks again.
"""

from uuid import UUID

from core.broker.enqueue import MONITOR, SUBMIT, send, send_once
from workloads.models import Workload

HAND_OVER = "workloads.hand_over"
QUEUE_UP = "workloads.queue_up"


def submit(*workloads: Workload) -> None:
    """Tell the worker that these workloads are new or run again. All must be on one cluster."""
    cluster = workloads[0].cluster
    if cluster.capabilities.queues:
        hand_over(cluster.pk)
    else:
        queue_up(cluster.pk)


def hand_over(cluster_id: UUID) -> None:
    """Dispatch what is due; at most one message waits per cluster."""
    send_once(HAND_OVER, cluster_id, SUBMIT)


def queue_up(cluster_id: UUID) -> None:
    """Queue what is due on a cluster where Trainyard decides what starts; at most one message
    waits."""
    send_once(QUEUE_UP, cluster_id, SUBMIT)


def launch(workload_id: UUID) -> None:
    send("workloads.launch", workload_id, SUBMIT)


def stop(*workload_ids: UUID) -> None:
    for workload_id in workload_ids:
        send("workloads.stop", workload_id, SUBMIT)


def delete(*workload_ids: UUID) -> None:
    for workload_id in workload_ids:
        send("workloads.delete", workload_id, SUBMIT)


def admit(cluster_id: UUID) -> None:
    send("workloads.admit", cluster_id, SUBMIT)


def monitor(cluster_id: UUID) -> None:
    send("workloads.monitor_cluster", cluster_id, MONITOR)
