"""Handle a data folder that cannot be written: explain it at the start, and keep the embedded
broker working."""

import time

import redis
from django.db import DatabaseError

from config.run.console import say
from core import storage
from core.broker.valkey import connection

EVERY = 1.0  # seconds between two checks
LEAST_AT_START = 1024**2  # bytes


def sentence(error: OSError | DatabaseError) -> str:
    """The message for whoever starts Trainyard; empty if the error is a defect of ours."""
    if isinstance(error, OSError):
        return (
            f"The data folder cannot be used: {error.strerror or error}"
            f"{f' ({error.filename})' if error.filename else ''}.\n"
            "Make it writable and free space on its disk, or choose another folder:\n"
            "  make run TRAINYARD_HOME=/path/to/a/folder"
        )
    met = storage.of(error)
    return met.at_start if met else ""


def without_room() -> str:
    """Why a start would fail for lack of space; empty if it would not. It may use the reserve,
    because Trainyard has to run to make room."""
    met = storage.on_disk(reserve=LEAST_AT_START)
    return met.at_start if met else ""


class BrokerLog:
    """Turns off the embedded broker's log while the disk is full, as the broker refuses every write
    that it cannot log. It then works in memory; whoever loses what it held asks for it again."""

    def __init__(self) -> None:
        self.looked = 0.0
        self.said = ""

    def tend(self) -> None:
        if time.monotonic() - self.looked < EVERY:
            return
        self.looked = time.monotonic()
        met = storage.on_disk()
        if met is None and not self.said:
            return
        try:
            connection().config_set("appendonly", "no" if met else "yes")
        except redis.RedisError:
            return  # it is starting; the next check tells it
        text = str(met) if met else ""
        if text != self.said:
            say(text or "There is space again: everything is saved as before.")
        self.said = text
