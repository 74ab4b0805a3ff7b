"""Semaphores across processes: at most ``most`` holders of a name. Slots of dead holders expire."""

import time

from core.broker.valkey import valkey_connection


def take_slot(name: str, holder: str, *, most: int, seconds: float) -> bool:
    """Take a slot for ``seconds``; taking it again extends it. Return ``False`` if none is free."""
    key = f"slots:{name}"
    now = time.time()
    # One transaction adds the holder and counts all of them, so two processes cannot both take
    # the last slot. A holder that is one too many gives its slot back below.
    with valkey_connection().pipeline() as pipe:
        pipe.zremrangebyscore(key, "-inf", now)
        pipe.zadd(key, {holder: now + seconds})
        pipe.expire(key, int(seconds) + 1)
        pipe.zcard(key)
        holders = int(pipe.execute()[-1])
    if holders > most:
        release_slot(name, holder)
        return False
    return True


def release_slot(name: str, holder: str) -> None:
    valkey_connection().zrem(f"slots:{name}", holder)
