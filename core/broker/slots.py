"""A semaphore across processes: at most ``most`` holders of a name; places of dead holders
expire."""

import time

from core.broker.valkey import valkey_connection


def take_slot(name: str, holder: str, *, most: int, seconds: float) -> bool:
    """Hold a place for ``seconds``, or longer by taking it again; ``False`` when all are taken."""
    key = f"slots:{name}"
    now = time.time()
    with valkey_connection().pipeline() as pipe:
        pipe.zremrangebyscore(key, "-inf", now)
        pipe.zadd(key, {holder: now + seconds})
        pipe.expire(key, int(seconds) + 1)
        pipe.zcard(key)
        taken = int(pipe.execute()[-1])
    if taken > most:
        release_slot(name, holder)
        return False
    return True


def release_slot(name: str, holder: str) -> None:
    valkey_connection().zrem(f"slots:{name}", holder)
