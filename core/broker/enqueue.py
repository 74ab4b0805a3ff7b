"""Send tasks to the worker after the current transaction commits."""

import logging
from uuid import UUID

from celery import current_app
from celery.exceptions import OperationalError
from django.db import transaction
from redis.exceptions import RedisError

from core.broker.valkey import valkey_connection

log = logging.getLogger(__name__)

SUBMIT = "submit"
MONITOR = "monitor"
PERIODIC = "periodic"
MARK_SECONDS = 5  # a message that no worker took after this counts as lost; another may be sent


def send(task: str, about: UUID | None, queue: str) -> None:
    """Send a task by name when the transaction commits. ``about`` is the id of its row, if any.

    If the broker is down, the message is lost with a warning; the periodic sweep repeats it.
    """

    def now() -> None:
        try:
            current_app.send_task(task, [str(about)] if about else [], queue=queue)
        except OperationalError as error:
            log.warning("%s of %s could not be asked for: %s", task, about, error)

    transaction.on_commit(now)


def send_once(task: str, about: UUID | None, queue: str) -> None:
    """Like :func:`send`, but no second time until a worker has called :func:`allow_next`.

    Use it for tasks that handle everything committed before they run: one waiting message is
    enough for them.
    """

    def now() -> None:
        try:
            # The mark is set first. If this process ends before it sends the message, the mark
            # expires and the next sweep sends one. In the other order, two processes could each
            # send a message.
            is_first = valkey_connection().set(_mark_key(task, about), 1, nx=True, ex=MARK_SECONDS)
        except RedisError as error:
            log.warning("%s of %s waits for the next sweep: %s", task, about, error)
            return
        if is_first:
            send(task, about, queue)

    transaction.on_commit(now)


def allow_next(task: str, about: UUID | None) -> None:
    """Allow another message. The task calls this before it reads rows, so that a row that is
    committed later gets a message of its own."""
    valkey_connection().delete(_mark_key(task, about))


def _mark_key(task: str, about: UUID | None) -> str:
    return f"asked:{task}:{about or ''}"
