"""Logs of ranks: how engines identify and return them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Log:
    """The output of one start of one rank.

    ``origin`` names what was started, such as a pod, which another may replace. ``start`` counts
    the starts of this origin from 0. Without an origin, it is the number of the attempt.
    """

    run: int
    rank: int
    start: int
    origin: str = ""


@dataclass(frozen=True)
class LogChunk:
    """A chunk of a log. ``cursor`` is where the next one starts, in the engine's own format.

    After a chunk that ``ended`` nothing follows, unless its rank still runs and ``Log.origin`` is
    empty. ``late`` says why output that should come does not come. If it is ``awaited``, more may
    come within moments, so the end of the workload should wait for it.
    """

    data: bytes = b""
    cursor: str = ""
    ended: bool = False
    late: str = ""
    awaited: bool = True
