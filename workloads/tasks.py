"""Entry points of the worker: each takes an id, loads the row and calls a function. All are safe to
run twice."""

from uuid import UUID

from celery import shared_task

from clusters.models import Cluster
from engines.base import EngineUnavailable
from workloads import enqueue, reconcile
from workloads.models import Workload
from workloads.scheduling import admission
from workloads.worker import dispatch, ends, monitor
from workloads.worker import sweep as sweeping

# Retries are for brief failures. In a longer outage the sweep sends the task again as long as the
# row needs it; retries of each of these would pile up.
retried = {
    "autoretry_for": (EngineUnavailable,),
    "retry_backoff": 2,
    "max_retries": 2,
    "throws": (EngineUnavailable,),  # logged in one line, since nothing of ours is broken
}


def _workload(workload_id: str) -> Workload:
    return Workload.objects.select_related("project", "cluster", "created_by").get(pk=workload_id)


@shared_task(name=enqueue.HAND_OVER, **retried)
def hand_over(cluster_id: str) -> None:
    dispatch.hand_over(Cluster.objects.get(pk=cluster_id))


@shared_task(name=enqueue.QUEUE_UP)
def queue_up(cluster_id: str) -> None:
    dispatch.queue_up(Cluster.objects.get(pk=cluster_id))


@shared_task(name="workloads.launch", **retried)
def launch(workload_id: str) -> None:
    reconcile.launch(_workload(workload_id))


@shared_task(name="workloads.stop", **retried)
def stop(workload_id: str) -> None:
    reconcile.stop(_workload(workload_id), may_store_end=ends.is_collected)


@shared_task(name="workloads.delete", **retried)
def delete(workload_id: str) -> None:
    reconcile.delete(_workload(workload_id), collect_rest=ends.collect_rest)


@shared_task(name="workloads.admit")
def admit(cluster_id: str) -> None:
    admission.admit_waiting(Cluster.objects.get(pk=cluster_id))


@shared_task(name="workloads.monitor_cluster")
def monitor_cluster(cluster_id: str) -> None:
    cluster = Cluster.objects.filter(pk=cluster_id).first()
    if cluster is None:
        monitor.close_resting_watch(UUID(cluster_id))
    elif monitor.watch_cluster(cluster):
        enqueue.monitor(cluster.pk)


@shared_task(name="workloads.worker.sweep")
def sweep() -> None:
    sweeping.sweep()
