"""Make sure that Trainyard is stopped while its data is replaced."""

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
def stopped() -> Iterator[None]:
    """Raise ``UpkeepError`` if Trainyard runs, and keep it from being started here. Processes that
    a killed one left running are ended first, as at a start."""
    folder = Path(settings.HOME)
    home = Home(folder)
    try:
        home.occupy()
    except Occupied as error:
        raise UpkeepError(
            f"Trainyard runs on {folder}. Stop it first, with Ctrl-C where it was started."
        ) from error
    try:
        home.end_leftovers()
        if alive := signs_of_life():
            raise UpkeepError(
                f"Trainyard runs: {' and '.join(alive)} gave a sign of life less than "
                f"{heartbeat.GOOD_FOR} seconds ago. Stop all of its processes first."
            )
        yield
    finally:
        home.release()


def signs_of_life() -> list[str]:
    """The names of processes that are alive elsewhere and share the broker. An embedded broker has
    ended with its manager, so it has none."""
    try:
        signs = heartbeat.broker(settings.REDIS_URL).mget([heartbeat.key(it) for it in PROCESSES])
    except redis.RedisError:
        return []
    return [name for name, sign in zip(PROCESSES, signs, strict=True) if sign]
