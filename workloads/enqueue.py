"""Asking a worker for something, after the commit. Tasks are named here and defined in ``tasks``.

A broker that is down loses nothing: the sweep looks at the rows every few seconds and asks again.
"""

import logging
from uuid import UUID

from django.db import transaction
from redis.exceptions import RedisError

from core.enqueue import MONITOR, SUBMIT, send
from core.valkey import connection
from workloads.models import Workload

log = logging.getLogger(__name__)

ASKED_SECONDS = 5  # a message that nobody takes is lost: send another


def submit(*workloads: Workload) -> None:
    """To their one cluster where that has a queue of its own, else to admission."""
    cluster = workloads[0].cluster
    if cluster.capabilities.queues:
        hand_over(cluster.pk)
        return
    for workload in workloads:
        send("workloads.submit", workload.pk, SUBMIT)


def hand_over(cluster_id: UUID) -> None:
    """One message for all that is committed until a worker has looked."""

    def ask() -> None:
        try:
            if connection().set(_asked(cluster_id), 1, nx=True, ex=ASKED_SECONDS):
                send("workloads.hand_over", cluster_id, SUBMIT)
        except RedisError as error:
            log.warning("The workloads of %s wait for the next sweep: %s", cluster_id, error)

    transaction.on_commit(ask)


def looked(cluster_id: UUID) -> None:
    """A worker saw every row: what is committed from now on needs a message of its own."""
    connection().delete(_asked(cluster_id))


def _asked(cluster_id: UUID) -> str:
    return f"hand-over-asked:{cluster_id}"


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
