"""Asking a worker for something, after the commit."""

import logging
from uuid import UUID

from celery import current_app
from celery.exceptions import OperationalError
from django.db import transaction

log = logging.getLogger(__name__)

SUBMIT, MONITOR, PERIODIC = "submit", "monitor", "periodic"


def send(task: str, about: UUID, queue: str) -> None:
    """Name a task and the row that it is about. A broker that is down loses the request, which
    whoever asks has to be able to bear."""

    def now() -> None:
        try:
            current_app.send_task(task, [str(about)], queue=queue)
        except OperationalError as error:
            log.warning("%s of %s could not be asked for: %s", task, about, error)

    transaction.on_commit(now)
