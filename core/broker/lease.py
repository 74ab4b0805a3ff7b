"""A lease: at most one holder of a name at a time, freed by expiry when the holder dies."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from redis.exceptions import LockError, LockNotOwnedError

from core.broker.valkey import valkey_connection

# Set when this process is shutting down. Leases are not extended from then on, so holders return
# them and the next process need not wait for them to expire.
shutting_down = threading.Event()


@contextmanager
def hold_lease(
    name: str, *, seconds: float, first_seconds: float | None = None
) -> Iterator[Callable[[], bool] | None]:
    """Yields a function that extends the lease, or ``None`` when someone else holds it.

    Until the holder extends it for the first time it lasts ``first`` seconds. The function answers
    whether the lease is still ours; a holder that hears no must stop.
    """
    lock = valkey_connection().lock(
        f"lease:{name}", timeout=first_seconds or seconds, thread_local=False
    )
    if not lock.acquire(blocking=False):
        yield None
        return

    def extend() -> bool:
        if shutting_down.is_set():
            return False
        try:
            return bool(lock.extend(seconds, replace_ttl=True))
        except LockNotOwnedError:
            return False

    try:
        yield extend
    finally:
        with suppress(LockError):  # it expired, so there is nothing left to give back
            lock.release()
