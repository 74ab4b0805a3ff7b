"""Find out which start of a container a log belongs to.

The API returns the logs of the current and the previous start. The node decides which these are;
the pod's status follows later. So a log may already be the next start's while the pod still shows
this one as running. The previous log tells: once the node has moved on, this start's log is there.
A node never goes back, so what it says after its answer also holds for the answer.
"""

from datetime import UTC, datetime

from engines.base import EngineUnavailable, Manifest
from engines.kubernetes.client.api import NotFound
from engines.kubernetes.logs.rotation import STAMPS, Beginning, seconds
from engines.kubernetes.logs.source import LogSource
from engines.kubernetes.status.conditions import moment


class Superseded(Exception):
    """The log belongs to a later start; that of this one is now the previous log."""


def check(source: LogSource, start: int, first: bytes) -> None:
    """Check that a log belongs to this ``start``, if its position was not found in it. ``first`` is
    the timestamp of its first line, or empty.

    ``Superseded`` if it is a later start's. ``NotFound`` if the cluster no longer has this start's
    log. ``EngineUnavailable`` if the API has to catch up with the node first.
    """
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
    """When this start began; ``None`` if the node does not say."""
    state = _state(source.pod, source.container, start)
    at = str((state.get("running") or state.get("terminated") or {}).get("startedAt") or "")
    if not at:
        return None
    return Beginning(at, (datetime.now(UTC) - moment(at)).total_seconds(), source.first_stretch)


def end(pod: Manifest, container: str, start: int) -> str:
    """When this start ended; empty if the node does not say."""
    ended = _state(pod, container, start).get("terminated") or {}
    return str(ended.get("finishedAt") or "")


def _state(pod: Manifest, container: str, start: int) -> Manifest:
    """The state of this start. While the container waits to be restarted, its last start is the one
    that ended."""
    status = _status(pod, container)
    ago = int(status.get("restartCount", 0)) - start + ("waiting" in (status.get("state") or {}))
    return status.get({0: "state", 1: "lastState"}.get(ago, "")) or {}


def _status(pod: Manifest, container: str) -> Manifest:
    """The container's status; empty if there is none yet."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    return next((one for one in statuses if one["name"] == container), {})


def _has_ended(source: LogSource, start: int, first: bytes) -> bool:
    """Whether the pod shows that this start ended, after that line. Times of ends are rounded down
    to seconds."""
    ended = end(source.pod, source.container, start)
    return bool(ended) and (not first or seconds(ended.encode(), first) < 1)


def _is_of_latest(source: LogSource, stamp: bytes) -> bool:
    """Whether a line with that timestamp belongs to the latest start the pod shows, not to the one
    before. Starts and ends are in whole seconds, so nothing is known if both fall into one; a node
    waits ten seconds before it starts a container for the third time."""
    status = _status(source.pod, source.container)
    state = status.get("state") or {}
    now = state.get("running") or state.get("terminated") or {}
    last = (status.get("lastState") or {}).get("terminated") or {}
    began, ended = str(now.get("startedAt") or ""), str(last.get("finishedAt") or "")
    return bool(stamp) and "" < ended < began and seconds(began.encode(), stamp) >= 0
