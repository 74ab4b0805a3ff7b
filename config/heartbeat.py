"""Heartbeats: the worker and beat each renew a key in the broker while they work.

Each also touches a file in the data folder. Where several workers share a broker, the file belongs
to this process alone; Kubernetes probes look at it.
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

INTERVAL = 2.0  # seconds between two heartbeats
TIMEOUT = 1.0  # seconds
TIME_TO_LIVE = 10  # seconds until a silent process counts as down
OK = "ok"  # the value of a heartbeat, unless it is the folder whose disk is full


def heartbeat_key(process: str) -> str:
    return f"trainyard:alive:{process}"


@cache
def heartbeat_client(url: str) -> redis.Redis:
    """Return the client for heartbeats. It fails fast and keeps its connections, because every page
    reads heartbeats. It retries once, in case a restart of the broker cut the connection."""
    return redis.Redis.from_url(
        url,
        socket_timeout=TIMEOUT,
        socket_connect_timeout=TIMEOUT,
        retry=Retry(NoBackoff(), 1),
    )


class Pulse:
    """Renews the heartbeat of one process. Errors are ignored here: ``/healthz`` checks the broker
    itself."""

    def __init__(self, process: str) -> None:
        self.key = heartbeat_key(process)
        self.broker = heartbeat_client(settings.REDIS_URL)
        self.file = Path(settings.HOME) / "run" / f"{process}.alive"
        with suppress(OSError):
            self.file.parent.mkdir(parents=True, exist_ok=True)

    def beat(self) -> None:
        full = storage.full_folder()
        with suppress(OSError):  # a full disk is reported through the broker below
            self.file.touch()
        try:
            self.broker.set(self.key, str(full) if full else OK, ex=TIME_TO_LIVE)
        except redis.RedisError:
            return


class WorkerPulse(bootsteps.StartStopStep):  # type: ignore[misc] # celery has no types
    """Sends heartbeats from the worker's event loop, so a loop that hangs falls silent."""

    requires = ("celery.worker.consumer:Tasks",)

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self.timer: Any = None
        self.pulse = Pulse("worker")

    def start(self, consumer: Any) -> None:
        self.pulse.beat()
        self.timer = consumer.timer.call_repeatedly(INTERVAL, self.pulse.beat)

    def stop(self, consumer: Any) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class BeatScheduler(Scheduler):  # type: ignore[misc] # celery has no types
    """Celery's scheduler with a heartbeat in every tick.

    Unlike Celery's default it stores no state: its tasks are due every few seconds, and a full disk
    must not stop it.
    """

    def setup_schedule(self) -> None:
        super().setup_schedule()
        self.pulse = Pulse("beat")

    def tick(self, *args: Any, **options: Any) -> float:
        self.pulse.beat()
        return float(super().tick(*args, **options))
