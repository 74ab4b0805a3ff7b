"""Find out which start of a container a log belongs to.

The API returns the logs of the current and the previous start. The node decides which these are,
and its answer does not name the start; the pod's status follows later. So a log may already be the
next start's while the pod still shows this one as running. The previous log tells: once the node
has moved on, this start's log is there. A node never goes back, so what it says after its answer
also holds for the answer.

That there is no previous log tells less. A node keeps one ended container of each: when the next
start has ended too, it removes this one, and until it waits to restart the container, which may
take ten seconds, it knows of no previous log. So nothing of the answer is taken until

- the program has written more since the node said so: then its start is the current one,
- the pod tells of the next start, or says when this one ended, or
- the pod has said for :data:`LAG` seconds that this one runs.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from engines.base import EngineUnavailable, Manifest
from engines.kubernetes.client.api import NotFound
from engines.kubernetes.logs.cursor import LogCursor
from engines.kubernetes.logs.rotation import STAMPS, Beginning, seconds
from engines.kubernetes.logs.source import LogSource
from engines.kubernetes.status.conditions import moment

LAG = 20.0  # the most seconds by which a pod's status is behind its node
PAUSE = (0.5, 2.0)  # the first and longest wait, in seconds, before asking again
BEHIND = "The API does not tell of the next start yet."


class Superseded(Exception):
    """The log belongs to a later start; that of this one is now the previous log."""


@dataclass(frozen=True)
class LogAnswer:
    """An answer that has to be of this ``start``. ``cursor``: up to where that start was read.
    ``wait`` lets some seconds pass, and raises ``EngineUnavailable`` if the answer is no longer
    wanted. ``opened``: when the node answered, on the monotonic clock."""

    source: LogSource
    start: int
    cursor: LogCursor
    wait: Callable[[float], None]
    opened: float = field(default_factory=time.monotonic)

    def check(self, first: bytes) -> None:
        """Check that it is, if its position was not found in it. ``first`` is the timestamp of its
        first line, or empty.

        ``Superseded`` if it is a later start's. ``NotFound`` if the cluster no longer has this
        start's log. ``EngineUnavailable`` if the API has to catch up with the node first.
        """
        if self.source.previous:
            self._check_previous(first)
        else:
            self._check_current(first)

    def _check_previous(self, first: bytes) -> None:
        pod, container = self.source.pod, self.source.container
        if restarts(pod, container) > self.start:
            if _is_of_latest(pod, container, first):
                raise NotFound("It was restarted twice.")
        elif not _has_ended(pod, container, self.start, first):
            raise EngineUnavailable(BEHIND)

    def _check_current(self, first: bytes) -> None:
        pod, pause, written = self.source.pod, PAUSE[0], b""
        has_grown = is_late = False
        while not self._is_ours(pod, first, is_sure=has_grown or is_late):
            if is_late:
                raise EngineUnavailable(BEHIND)
            written = written or self.source.last()
            is_late = time.monotonic() - self.opened > LAG
            self.wait(pause)
            pause = min(2 * pause, PAUSE[1])
            latest_pod = self.source.latest_pod()
            if latest_pod is None:
                return  # nobody can tell any more
            pod = latest_pod
            has_grown = bool(written) and self.source.last() not in {b"", written}

    def _is_ours(self, pod: Manifest, first: bytes, *, is_sure: bool) -> bool:
        """Whether the answer is known to be of this start, by what the pod and the node say.
        ``is_sure``: it is if the pod says that this start runs. ``Superseded`` if it may be a later
        start's."""
        container, start = self.source.container, self.start
        ended = end(pod, container, start).encode()
        if ended and first and seconds(ended, first) < 0:
            return True
        before = self.source.first_before()
        line = STAMPS.match(before or b"")
        is_first = start == 0 and before is not None
        if (
            restarts(pod, container) > start
            or is_first
            or (line and _is_of_latest(pod, container, line[1]))
        ):
            raise Superseded
        if line or before == b"":
            return True  # of the start before this one
        if ended:
            return not first or not _may_restart(pod, container)
        return is_sure or not self.cursor.stamp


def restarts(pod: Manifest, container: str) -> int:
    """How many starts are over for good. While the container waits to be restarted, its last one
    is."""
    status = _status(pod, container)
    return int(status.get("restartCount", 0)) + _is_waiting(status)


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
    """The state of this start: the container's now, or before its last restart."""
    states = {0: "state", 1: "lastState"}
    ago = restarts(pod, container) - start
    return _status(pod, container).get(states.get(ago, "")) or {}


def _status(pod: Manifest, container: str) -> Manifest:
    """The container's status; empty if there is none yet."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    return next((one for one in statuses if one["name"] == container), {})


def _is_waiting(status: Manifest) -> bool:
    """Whether a container waits to be started once more. After a node was restarted, it may also
    wait for its current start to be found again."""
    last = (status.get("lastState") or {}).get("terminated") or {}
    is_its_own = bool(last) and last.get("containerID") == status.get("containerID")
    return is_its_own and "waiting" in (status.get("state") or {})


def _may_restart(pod: Manifest, container: str) -> bool:
    """Whether a container that ended may be started once more."""
    phase, meta = (pod.get("status") or {}).get("phase"), pod["metadata"]
    if phase in {"Succeeded", "Failed"} or meta.get("deletionTimestamp"):
        return False
    policy = pod["spec"].get("restartPolicy")
    ended = (_status(pod, container).get("state") or {}).get("terminated") or {}
    return policy == "Always" or (policy == "OnFailure" and ended.get("exitCode") != 0)


def _has_ended(pod: Manifest, container: str, start: int, first: bytes) -> bool:
    """Whether the pod shows that this start ended, after that line. Times of ends are rounded down
    to seconds."""
    ended = end(pod, container, start)
    return bool(ended) and (not first or seconds(ended.encode(), first) < 1)


def _is_of_latest(pod: Manifest, container: str, stamp: bytes) -> bool:
    """Whether a line with that timestamp belongs to the latest start the pod shows, not to the one
    before. Starts and ends are in whole seconds, so nothing is known of a line in the second in
    which one ended and the other began."""
    status = _status(pod, container)
    state = status.get("state") or {}
    now = state.get("running") or state.get("terminated") or {}
    last = (status.get("lastState") or {}).get("terminated") or {}
    began, ended = str(now.get("startedAt") or ""), str(last.get("finishedAt") or "")
    if not (stamp and ended):
        return False
    is_after = ended < began and seconds(began.encode(), stamp) >= 0
    return is_after or seconds(ended.encode(), stamp) >= 1
