"""What a pod tells of the starts of a container, and which of them an answer is of.

The API hands out the log of the current start and that of the one before. Its node chooses them, by
what it knows itself; the API's pod tells of it later. So an answer may be of the next start while
the pod says that this one still runs. The log of the start before tells: a node that has gone on
has that of this one there. It never goes back, so what it says after it answered holds for the
answer.
"""

from datetime import UTC, datetime

from engines.base import EngineUnavailable, Manifest
from engines.kubernetes.client.api import NotFound
from engines.kubernetes.logs.rotation import STAMPS, Beginning, seconds
from engines.kubernetes.logs.source import LogSource
from engines.kubernetes.status.conditions import moment


class Superseded(Exception):
    """The answer is of a later start; that of this one is the log of the start before."""


def check(source: LogSource, start: int, first: bytes) -> None:
    """That an answer is of this ``start`` of the container, which does not go on where it was left
    off: its ``first`` line has that time, or it has none. ``Superseded`` or, where the cluster no
    longer has the log of this start, ``NotFound``; ``EngineUnavailable`` where the API has to catch
    up with the node before anybody can know."""
    if source.previous:
        if restarts(source.pod, source.container) > start:
            if _is_of_latest(source, first):
                raise NotFound("It was restarted twice.")
        elif not _has_ended(source, start, first):
            raise EngineUnavailable("The API does not tell of the next start yet.")
        return
    before = source.first_before()
    if before is None:
        return
    line = STAMPS.match(before)
    if start == 0 or _is_of_latest(source, line[1] if line else b""):
        raise Superseded


def restarts(pod: Manifest, container: str) -> int:
    return int(_status(pod, container).get("restartCount", 0))


def beginning(source: LogSource, start: int) -> Beginning | None:
    """Of this start of the container; ``None`` where its node does not say when it was."""
    state = _state(source.pod, source.container, start)
    at = str((state.get("running") or state.get("terminated") or {}).get("startedAt") or "")
    if not at:
        return None
    return Beginning(at, (datetime.now(UTC) - moment(at)).total_seconds(), source.first_stretch)


def end(pod: Manifest, container: str, start: int) -> str:
    """When this start of the container ended; empty where its node does not say."""
    ended = _state(pod, container, start).get("terminated") or {}
    return str(ended.get("finishedAt") or "")


def _state(pod: Manifest, container: str, start: int) -> Manifest:
    """How this start is, or how it ended. While the container waits to be started once more, the
    last one is that which ended."""
    status = _status(pod, container)
    ago = int(status.get("restartCount", 0)) - start + ("waiting" in (status.get("state") or {}))
    return status.get({0: "state", 1: "lastState"}.get(ago, "")) or {}


def _status(pod: Manifest, container: str) -> Manifest:
    """As the pod tells; empty before there is one."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    return next((one for one in statuses if one["name"] == container), {})


def _has_ended(source: LogSource, start: int, first: bytes) -> bool:
    """Whether the pod tells that this start ended, and after that line. Times of ends are whole
    seconds, rounded down."""
    ended = end(source.pod, source.container, start)
    return bool(ended) and (not first or seconds(ended.encode(), first) < 1)


def _is_of_latest(source: LogSource, stamp: bytes) -> bool:
    """Whether a line of that time is of the latest start that the pod tells of, not of the one
    before it. Times of starts and ends are whole seconds: with both in one, nobody can know, and a
    node waits for ten before it starts a container for the third time."""
    status = _status(source.pod, source.container)
    state = status.get("state") or {}
    now = state.get("running") or state.get("terminated") or {}
    last = (status.get("lastState") or {}).get("terminated") or {}
    began, ended = str(now.get("startedAt") or ""), str(last.get("finishedAt") or "")
    return bool(stamp) and "" < ended < began and seconds(began.encode(), stamp) >= 0
