"""Asking a worker for something, after the commit."""

import logging
from uuid import UUID

from celery import current_app
from celery.exceptions import OperationalError
from django.db import transaction
from redis.exceptions import RedisError

from core.broker.valkey import connection

log = logging.getLogger(__name__)

SUBMIT, MONITOR, PERIODIC = "submit", "monitor", "periodic"
ASKED_SECONDS = 5  # a message that nobody takes is lost: send another


def send(task: str, about: UUID | None, queue: str) -> None:
    """Name a task and the row that it is about, if it is about one. A broker that is down loses the
    request, which whoever asks has to be able to bear."""

    def now() -> None:
        try:
            current_app.send_task(task, [str(about)] if about else [], queue=queue)
        except OperationalError as error:
            log.warning("%s of %s could not be asked for: %s", task, about, error)

    transaction.on_commit(now)


def send_once(task: str, about: UUID | None, queue: str) -> None:
    """The same: one message for all that is committed until a worker has looked."""

    def ask() -> None:
        try:
            if connection().set(_asked(task, about), 1, nx=True, ex=ASKED_SECONDS):
                send(task, about, queue)
        except RedisError as error:
            log.warning("%s of %s waits for the next sweep: %s", task, about, error)

    transaction.on_commit(ask)


def looked(task: str, about: UUID | None) -> None:
    """A worker saw every row: what is committed from now on needs a message of its own."""
    connection().delete(_asked(task, about))


def hush(task: str, about: UUID | None, seconds: int) -> None:
    """For so long there is nothing that the task could do, and no message is sent."""
    connection().set(_asked(task, about), 1, ex=seconds)


def _asked(task: str, about: UUID | None) -> str:
    return f"asked:{task}:{about or ''}"
