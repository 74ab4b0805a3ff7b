"""What a node may have rotated away before it was read, and the lines of ours that say so. Pure.

A node looks at the logs of its containers every ten seconds by default, and begins a new file where
one has grown to 10 MB. The API hands out the newest file only.
"""

from datetime import UTC, datetime, timedelta

from engines.base import Manifest
from engines.kubernetes.status.conditions import moment

LOOK = 10.0  # seconds between two looks of a node
#: Seconds after its start in which a container hardly fills a file. So whoever reads from then on
#: has its first lines, and a log that begins then has lost none.
EARLY = 5.0
PROMPT = 2.0  # the same, for one that fills a file as fast as it can
FILE_BYTES = 5 * 1000**2  # half of what is rotated by default
#: Seconds between two lines that may stand in two files with one between them. Such a one was begun
#: at one look and left at another; programs pause meanwhile.
SKIPPED = LOOK / 2
ROTATED = (
    b"[Trainyard] Output may be missing here: the node rotated the log away before it was read.\n"
)
BEHEADED = (
    b"[Trainyard] Output may be missing here: what the node still has begins %d s after the start "
    b"of the container.\n"
)


def unread_start(pod: Manifest, container: str, start: int) -> str:
    """When this start of the container was, if it is long enough ago that its first lines may be
    gone; else empty."""
    state = _state(pod, container, start)
    at = str((state.get("running") or state.get("terminated") or {}).get("startedAt") or "")
    is_early = at and datetime.now(UTC) - moment(at) <= timedelta(seconds=EARLY)
    return "" if is_early else at


def end(pod: Manifest, container: str, start: int) -> str:
    """When this start of the container ended; empty where its node does not say."""
    ended = _state(pod, container, start).get("terminated") or {}
    return str(ended.get("finishedAt") or "")


def _state(pod: Manifest, container: str, start: int) -> Manifest:
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    status: Manifest = next((one for one in statuses if one["name"] == container), {})
    ago = int(status.get("restartCount", 0)) - start
    return status.get({0: "state", 1: "lastState"}.get(ago, "")) or {}


def head(began: str, first: bytes, last: bytes, size: int) -> bytes:
    """What to say before a log of which nothing was read: by the times of its first line and of the
    last that came with it, ``size`` bytes together. One that begins early lost something only if
    it was written fast enough to fill a file before."""
    late, span = seconds(began.encode(), first), max(seconds(first, last), 0.001)
    may_have_filled = late > PROMPT and late * size / span > FILE_BYTES
    return BEHEADED % late if late > EARLY or may_have_filled else b""


def is_cut_off(stamp: bytes, ended: str) -> bool:
    """Whether a file may lie between the last line that was read, by its time, and the end of the
    container."""
    return not ended or seconds(stamp, ended.encode()) > SKIPPED


def seconds(earlier: bytes, later: bytes) -> float:
    return (_moment(later) - _moment(earlier)).total_seconds()


def _moment(stamp: bytes) -> datetime:
    return datetime.fromisoformat(stamp.decode())
