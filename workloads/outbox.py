"""Asking a worker for something, after the commit. Tasks are named here and defined in ``tasks``.

A broker that is down loses nothing: the sweep looks at the rows every few seconds and asks again.
"""

import logging
from uuid import UUID

from celery import current_app
from celery.exceptions import OperationalError
from django.db import transaction

log = logging.getLogger(__name__)

SUBMIT, MONITOR, PERIODIC = "submit", "monitor", "periodic"


def submit(workload_id: UUID) -> None:
    _send("workloads.submit", workload_id, SUBMIT)


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
