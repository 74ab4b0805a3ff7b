"""Asking a worker for something, after the commit. Tasks are named here and defined in ``tasks``.

A broker that is down loses nothing: the sweep looks at the rows every few seconds and asks again.
"""

import logging
from uuid import UUID

from celery import current_app
from celery.exceptions import OperationalError
from django.db import transaction
from redis.exceptions import RedisError

from core.valkey import connection
from workloads.models import Workload

log = logging.getLogger(__name__)

SUBMIT, MONITOR, PERIODIC = "submit", "monitor", "periodic"
ASKED_SECONDS = 5  # a message that nobody takes is lost: send another


def submit(workload: Workload) -> None:
    """To the cluster where that has a queue of its own, else to admission."""
    if workload.cluster.capabilities.queues:
        hand_over(workload.cluster_id)
    else:
        _send("workloads.submit", workload.pk, SUBMIT)


def hand_over(cluster_id: UUID) -> None:
    """One message for all that is committed until a worker takes it."""

    def send() -> None:
        try:
            if connection().set(_asked(cluster_id), 1, nx=True, ex=ASKED_SECONDS):
                _send("workloads.hand_over", cluster_id, SUBMIT)
        except RedisError as error:
            log.warning("The workloads of %s wait for the next sweep: %s", cluster_id, error)

    transaction.on_commit(send)


def taken(cluster_id: UUID) -> None:
    """A worker is about to look: what is committed from now on needs a message of its own."""
    connection().delete(_asked(cluster_id))


def _asked(cluster_id: UUID) -> str:
    return f"hand-over-asked:{cluster_id}"


def launch(workload_id: UUID) -> None:
    _send("workloads.launch", workload_id, SUBMIT)


def stop(workload_id: UUID) -> None:
    _send("workloads.stop", workload_id, SUBMIT)


def delete(workload_id: UUID) -> None:
    _send("workloads.delete", workload_id, SUBMIT)


def admit(cluster_id: UUID) -> None:
    _send("workloads.admit", cluster_id, SUBMIT)


def monitor(cluster_id: UUID) -> None:
    _send("workloads.monitor_cluster", cluster_id, MONITOR)


def _send(task: str, about: UUID, queue: str) -> None:
    def send() -> None:
        try:
            current_app.send_task(task, [str(about)], queue=queue)
        except OperationalError as error:
            log.warning("%s of %s waits for the next sweep: %s", task, about, error)

    transaction.on_commit(send)
