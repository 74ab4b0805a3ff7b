"""Send tasks to the worker after the current transaction commits."""

import logging
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from celery import current_app
from celery.exceptions import OperationalError
from django.db import transaction
from redis.exceptions import RedisError

from core.broker.stream import News
from core.broker.valkey import connection

log = logging.getLogger(__name__)

SUBMIT, MONITOR, PERIODIC = "submit", "monitor", "periodic"
ASKED_SECONDS = 5  # after this, a message that nobody took counts as lost, and another may be sent
#: Publishes names on a channel and claims keys; returns which keys were free. One command, because
#: redis-py takes three times as long for a pipeline, and every submission waits for it.
TELL = """
for name = 3, #ARGV do redis.call('PUBLISH', ARGV[2], ARGV[name]) end
local free = {}
for number, key in ipairs(KEYS) do
  free[number] = redis.call('SET', key, 1, 'NX', 'EX', ARGV[1]) and 1 or 0
end
return free
"""


def send(task: str, about: UUID | None, queue: str) -> None:
    """Send a task by name, with the id of the row it is about, if any.

    If the broker is down the message is lost with a warning; callers rely on the sweep for that.
    """

    def now() -> None:
        try:
            current_app.send_task(task, [str(about)] if about else [], queue=queue)
        except OperationalError as error:
            log.warning("%s of %s could not be asked for: %s", task, about, error)

    transaction.on_commit(now)


@dataclass(frozen=True)
class Look:
    """A task that handles everything committed before it runs, so one waiting message is enough."""

    task: str
    about: UUID | None
    queue: str


def send_once(task: str, about: UUID | None, queue: str) -> None:
    """Like :func:`send`, but only once until a worker has called :func:`looked`."""
    tell(None, Look(task, about, queue))


def tell(news: News | None, *looks: Look) -> None:
    """After the commit, publish news to open pages and send the looks, in one round trip to the
    broker. A look that already has a message waiting is not sent again."""

    def now() -> None:
        try:
            keys = [_asked(it.task, it.about) for it in looks]
            said = (news.key, *news.names) if news else ("",)
            free: Any = connection().eval(TELL, len(keys), *keys, ASKED_SECONDS, *said)
        except RedisError as error:
            names = ", ".join(f"{it.task} of {it.about}" for it in looks)
            log.warning("%s waits for the next sweep: %s", names, error)
            return
        for it, is_first in zip(looks, free, strict=True):
            if is_first:
                send(it.task, it.about, it.queue)

    transaction.on_commit(now)


def looked(task: str, about: UUID | None) -> None:
    """Called by the task before it reads: whatever is committed from now on needs a new message."""
    connection().delete(_asked(task, about))


def hush(task: str, about: UUID | None, seconds: int) -> None:
    """Send no such message for ``seconds``, because the task could not do anything."""
    connection().set(_asked(task, about), 1, ex=seconds)


def _asked(task: str, about: UUID | None) -> str:
    return f"asked:{task}:{about or ''}"
