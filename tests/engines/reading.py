"""Reads what an engine returns: the first list of a watch, and logs piece by piece."""

from collections.abc import Iterator
from itertools import takewhile

from engines.base import Engine, Handle, Launch, Observation
from engines.logs import Log, LogChunk
from tests.waiting import wait_for


def listed(watch: Iterator[Observation | None]) -> list[Observation]:
    """Return what exists when a watch begins. On a shared cluster, that includes workloads of
    others."""
    return [seen for seen in takewhile(lambda seen: seen is not None, watch) if seen]


def logs(engine: Engine, handle: Handle, rank: int, *, run: int = 1) -> list[Log]:
    """Return the logs of one rank in a run."""
    return [one for one in engine.logs(handle, run=run) if one.rank == rank]


def pieces(
    engine: Engine, handle: Handle, log: Log, *, until: bytes | None = None
) -> list[LogChunk]:
    """Read a log until it ends, or until ``until`` was printed. The last piece has no bytes."""
    found: list[LogChunk] = [LogChunk()]

    def is_all() -> bool:
        offset = sum(len(piece.data) for piece in found)
        cursor = found[-1].cursor
        found.append(engine.read_log(handle, log, offset=offset, cursor=cursor, limit=100_000))
        if found[-1].data:
            return False
        return found[-1].ended if until is None else until in b"".join(p.data for p in found)

    wait_for(is_all, 60, f"all of {log}", every=0.01)
    return found


def output(engine: Engine, handle: Handle, log: Log, *, until: bytes | None = None) -> bytes:
    """Return the bytes of a log, read as ``pieces`` does."""
    return b"".join(piece.data for piece in pieces(engine, handle, log, until=until))


def printed(
    engine: Engine, launched: Launch, rank: int = 0, *, until: bytes | None = None
) -> bytes:
    """Wait for the log of a rank's first start, and return its bytes."""
    found = wait_for(lambda: logs(engine, launched.handle, rank, run=launched.run), 30, "a log")
    return output(engine, launched.handle, found[0], until=until)
