"""Entry points of the worker: load the row of an id and call one function. All are safe to run
twice."""

from celery import shared_task

from clusters import connection_tests, services
from clusters.models import Cluster, ConnectionTest


@shared_task(name="clusters.look")
def look(cluster_id: str) -> None:
    if cluster := Cluster.objects.filter(pk=cluster_id).first():
        services.refresh(cluster)


@shared_task(name="clusters.test_connection")
def test_connection(test_id: str) -> None:
    test = ConnectionTest.objects.select_related("cluster").filter(pk=test_id).first()
    if test and not test.answered_at:
        connection_tests.run(test)
