"""Signs of life: the worker and beat each renew a key in the broker while they work.

Beside it, each touches a file in the data folder: that is of this very process, where several
workers share a broker, and is what a cluster's probe looks at.
"""

from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import redis
from celery import bootsteps
from celery.beat import Scheduler
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from core import storage

EVERY = 2.0  # seconds between two signs
TIMEOUT = 1.0  # seconds
GOOD_FOR = 10  # seconds until a process without a sign counts as down


def key(process: str) -> str:
    return f"trainyard:alive:{process}"


@cache
def broker(url: str) -> redis.Redis:
    """Connections that answer or fail at once, and are kept: every page asks for signs of life.
    One that a restart of the broker cut is made anew."""
    return redis.Redis.from_url(
        url,
        socket_timeout=TIMEOUT,
        socket_connect_timeout=TIMEOUT,
        retry=Retry(NoBackoff(), 1),
    )


class Pulse:
    """Renews one process's key. A broker that is down is told by the broker's own check."""

    def __init__(self, process: str) -> None:
        self.key = key(process)
        self.broker = broker(settings.REDIS_URL)
        self.file = Path(settings.HOME) / "run" / f"{process}.alive"
        with suppress(OSError):
            self.file.parent.mkdir(parents=True, exist_ok=True)

    def beat(self) -> None:
        met = storage.on_disk()
        with suppress(OSError):  # a disk that takes nothing is told below
            self.file.touch()
        try:
            self.broker.set(self.key, met.encode() if met else "ok", ex=GOOD_FOR)
        except redis.RedisError:
            return


class WorkerPulse(bootsteps.StartStopStep):  # type: ignore[misc] # celery has no types
    """Beats from the worker's own loop, so a loop that hangs falls silent."""

    requires = ("celery.worker.consumer:Tasks",)

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self.timer: Any = None
        self.pulse = Pulse("worker")

    def start(self, consumer: Any) -> None:
        self.pulse.beat()
        self.timer = consumer.timer.call_repeatedly(EVERY, self.pulse.beat)

    def stop(self, consumer: Any) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class BeatScheduler(Scheduler):  # type: ignore[misc] # celery has no types
    """Celery's own scheduler, with a sign of life at every round. It keeps nothing: what it asks
    for is asked for every few seconds, and a full disk must not stop the clock."""

    def setup_schedule(self) -> None:
        super().setup_schedule()
        self.pulse = Pulse("beat")

    def tick(self, *args: Any, **options: Any) -> float:
        self.pulse.beat()
        return float(super().tick(*args, **options))
