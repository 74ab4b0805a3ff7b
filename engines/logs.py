"""Logs of ranks, as engines identify and return them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Log:
    """The output of one start of one rank.

    ``origin`` names what was started, such as a pod, which another may replace. It is empty if
    ``start``, which counts the starts of this origin from 0, is the number of the attempt itself.
    """

    run: int
    rank: int
    start: int
    origin: str = ""


@dataclass(frozen=True)
class LogChunk:
    """A chunk of a log. ``cursor`` is where the next one starts, in the engine's own format.

    ``ended``: nothing follows, unless its rank still runs and ``Log.origin`` is empty. ``late``
    says why nothing comes although something should. ``awaited``: more may come within moments, so
    the end of the workload should wait for it.
    """

    data: bytes = b""
    cursor: str = ""
    ended: bool = False
    late: str = ""
    awaited: bool = True
