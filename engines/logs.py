"""What ranks print, as an engine tells it apart and hands it out."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Log:
    """What one start of one rank prints, apart from what its other starts print.

    ``origin`` names what was started: a pod, which another may replace; empty where ``start``,
    which counts the starts of this origin from 0, is the number of the attempt itself.
    """

    run: int
    rank: int
    start: int
    origin: str = ""


@dataclass(frozen=True)
class LogChunk:
    """Some of a log. ``cursor`` is where the next begins, in the engine's own words.

    ``ended``: nothing comes after this, unless its rank still runs where ``Log.origin`` is empty.
    ``late`` says why nothing comes although something should. ``awaited``: more may come within
    moments, so that whoever tells of the end waits for it.
    """

    data: bytes = b""
    cursor: str = ""
    ended: bool = False
    late: str = ""
    awaited: bool = True
