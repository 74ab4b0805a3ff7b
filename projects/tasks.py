"""Tasks of the worker. Each takes an id, loads the row and calls a function. Each is safe to run
twice."""

from celery import shared_task

from clusters.models import Cluster
from projects import queues


@shared_task(name="projects.keep_queues")
def keep_queues(cluster_id: str) -> None:
    if cluster := Cluster.objects.filter(pk=cluster_id).first():
        queues.update_queues(cluster)
