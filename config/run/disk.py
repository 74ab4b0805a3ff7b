"""A data folder that cannot be written: a sentence at the start, and a broker that goes on."""

import time

import redis
from django.db import DatabaseError

from config.run.console import say
from core import storage
from core.broker.valkey import connection

EVERY = 1.0  # seconds between two looks
LEAST_AT_START = 1024**2  # bytes


def sentence(error: OSError | DatabaseError) -> str:
    """What to tell who starts Trainyard; empty where the error is a defect of ours."""
    if isinstance(error, OSError):
        return (
            f"The data folder cannot be used: {error.strerror or error}"
            f"{f' ({error.filename})' if error.filename else ''}.\n"
            "Make it writable and free space on its disk, or choose another folder:\n"
            "  make run TRAINYARD_HOME=/path/to/a/folder"
        )
    met = storage.of(error)
    return str(met) if met else ""


def without_room() -> str:
    """Why there is no use in a start; the reserve may be used by what makes room."""
    met = storage.on_disk(reserve=LEAST_AT_START)
    return str(met) if met else ""


class BrokerLog:
    """The embedded broker refuses every write while it cannot write its log. So while its disk
    takes nothing it works in memory: what it holds is asked for again by whoever lost it."""

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
            return  # it is starting, and hears of it at the next look
        text = str(met) if met else ""
        if text != self.said:
            say(text or "There is space again: everything is saved as before.")
        self.said = text
