"""A lease: at most one holder of a name at a time, freed by expiry when the holder dies."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from redis.exceptions import LockError, LockNotOwnedError

from core.valkey import connection


@contextmanager
def lease(name: str, *, seconds: float) -> Iterator[Callable[[], bool] | None]:
    """Yields a function that extends the lease, or ``None`` when someone else holds it.

    The function answers whether the lease is still ours; a holder that hears no must stop.
    """
    lock = connection().lock(f"lease:{name}", timeout=seconds, thread_local=False)
    if not lock.acquire(blocking=False):
        yield None
        return

    def extend() -> bool:
        try:
            return bool(lock.extend(seconds, replace_ttl=True))
        except LockNotOwnedError:
            return False

    try:
        yield extend
    finally:
        with suppress(LockError):  # it expired, so there is nothing left to give back
            lock.release()
