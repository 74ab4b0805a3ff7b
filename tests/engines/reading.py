"""Reading what an engine tells: a list, and what a rank printed, a piece after the other."""

from collections.abc import Iterator
from itertools import takewhile

from engines.base import Engine, Handle, Launch, Observation
from engines.logs import Log, LogChunk
from tests.waiting import wait_for


def listed(watch: Iterator[Observation | None]) -> list[Observation]:
    """All that is there when the watch begins: on a cluster that is not empty, others' as well."""
    return [seen for seen in takewhile(lambda seen: seen is not None, watch) if seen]


def logs(engine: Engine, handle: Handle, rank: int, *, run: int = 1) -> list[Log]:
    return [one for one in engine.logs(handle, run=run) if one.rank == rank]


def pieces(
    engine: Engine, handle: Handle, log: Log, *, until: bytes | None = None
) -> list[LogChunk]:
    """Until the log ends, or ``until`` was printed. The last one holds no more bytes."""
    found: list[LogChunk] = [LogChunk()]

    def is_all() -> bool:
        offset, cursor = sum(len(piece.data) for piece in found), found[-1].cursor
        found.append(engine.read_log(handle, log, offset=offset, cursor=cursor, limit=100_000))
        if found[-1].data:
            return False
        return found[-1].ended if until is None else until in b"".join(p.data for p in found)

    wait_for(is_all, 60, f"all of {log}", every=0.01)
    return found


def output(engine: Engine, handle: Handle, log: Log, *, until: bytes | None = None) -> bytes:
    return b"".join(piece.data for piece in pieces(engine, handle, log, until=until))


def printed(
    engine: Engine, launched: Launch, rank: int = 0, *, until: bytes | None = None
) -> bytes:
    """What the first start of a rank printed; it may have to start first."""
    found = wait_for(lambda: logs(engine, launched.handle, rank, run=launched.run), 30, "a log")
    return output(engine, launched.handle, found[0], until=until)
