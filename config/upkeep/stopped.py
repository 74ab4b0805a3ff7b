"""What may only be done while Trainyard is stopped, and what a restore left that was cut short."""

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
    """``UpkeepError`` while it runs. Nobody starts it here meanwhile; what a killed one left
    running is ended first, as a start does."""
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
    """Of processes elsewhere that share the broker; the embedded one ended with its manager."""
    try:
        signs = heartbeat.broker(settings.REDIS_URL).mget([heartbeat.key(it) for it in PROCESSES])
    except redis.RedisError:
        return []
    return [name for name, sign in zip(PROCESSES, signs, strict=True) if sign]
