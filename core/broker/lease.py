"""Leases: at most one holder of a name at a time. The lease of a dead holder expires."""

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
    """Yield a function that extends the lease by ``seconds``, or ``None`` if another process holds
    it.

    The lease lasts ``first_seconds`` until the first extension. The function returns whether the
    lease is still held; a holder must stop when it returns ``False``.
    """
    # The thread that extends a lease is not always the one that took it.
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
