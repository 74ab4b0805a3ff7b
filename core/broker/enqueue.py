"""Asking a worker for something, after the commit."""

import logging
from dataclasses import dataclass
from uuid import UUID

from celery import current_app
from celery.exceptions import OperationalError
from django.db import transaction
from redis.exceptions import RedisError

from core.broker.stream import News
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


@dataclass(frozen=True)
class Look:
    """A task that looks for all there is to do, whatever was committed until it runs."""

    task: str
    about: UUID | None
    queue: str


def send_once(task: str, about: UUID | None, queue: str) -> None:
    """The same: one message for all that is committed until a worker has looked."""
    tell(None, Look(task, about, queue))


def tell(news: News | None, *looks: Look) -> None:
    """After the commit, in one conversation with the broker: open pages of the news, and a worker
    to look, once for each look that nobody asked for already."""

    def now() -> None:
        try:
            with connection().pipeline(transaction=False) as together:
                for it in looks:
                    together.set(_asked(it.task, it.about), 1, nx=True, ex=ASKED_SECONDS)
                if news:
                    news.publish(together)
                answers = together.execute()
        except RedisError as error:
            names = ", ".join(f"{it.task} of {it.about}" for it in looks)
            log.warning("%s waits for the next sweep: %s", names, error)
            return
        for it, is_first in zip(looks, answers, strict=False):
            if is_first:
                send(it.task, it.about, it.queue)

    transaction.on_commit(now)


def looked(task: str, about: UUID | None) -> None:
    """A worker saw every row: what is committed from now on needs a message of its own."""
    connection().delete(_asked(task, about))


def hush(task: str, about: UUID | None, seconds: int) -> None:
    """For so long there is nothing that the task could do, and no message is sent."""
    connection().set(_asked(task, about), 1, ex=seconds)


def _asked(task: str, about: UUID | None) -> str:
    return f"asked:{task}:{about or ''}"
