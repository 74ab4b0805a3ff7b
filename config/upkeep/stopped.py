"""Keeps Trainyard stopped while its data is replaced."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis
from django.conf import settings

from config import heartbeat
from config.run.home import Home, Occupied
from config.upkeep.errors import UpkeepError

PROCESSES = ("worker", "beat")


@contextmanager
def keep_stopped() -> Iterator[None]:
    """Raise ``UpkeepError`` if Trainyard runs, and keep it from starting here. Processes that a
    killed manager left behind are ended first, as at a start."""
    folder = Path(settings.HOME)
    home = Home(folder)
    try:
        home.lock()
    except Occupied as error:
        raise UpkeepError(
            f"Trainyard runs on {folder}. Stop it first, with Ctrl-C where it was started."
        ) from error
    try:
        home.end_leftovers()
        if alive := find_running():
            raise UpkeepError(
                f"Trainyard runs: {' and '.join(alive)} gave a sign of life less than "
                f"{heartbeat.TIME_TO_LIVE} seconds ago. Stop all of its processes first."
            )
        yield
    finally:
        home.release()


def find_running() -> list[str]:
    """Return the names of processes that are alive elsewhere and share the broker. An embedded
    broker ended with its manager, so there are none."""
    try:
        signs = heartbeat.heartbeat_client(settings.REDIS_URL).mget(
            [heartbeat.heartbeat_key(it) for it in PROCESSES]
        )
    except redis.RedisError:
        return []
    return [name for name, sign in zip(PROCESSES, signs, strict=True) if sign]
