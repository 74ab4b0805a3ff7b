"""Requests for the log of one start of a container.

The API returns the logs of the current and the previous start. The node decides which these are,
and its answer does not name the start; the pod's status follows a moment later. So an answer may be
of the next start while the pod still shows this one as running, and has to be checked.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from urllib3.response import BaseHTTPResponse

from engines.base import EngineRefused, EngineUnavailable, Manifest
from engines.kubernetes.client.api import Api, NotFound
from engines.kubernetes.logs.cursor import parse_stamp
from engines.kubernetes.logs.reader import STAMPED
from engines.kubernetes.status.conditions import parse_time

SILENCE_SECONDS = 300.0  # seconds without data until the connection is replaced
STAMP_BYTES = 64  # enough for a timestamp
#: Seconds until a pod counts as up to date with its node. Shorter than a turn of a stream, so that
#: a log is not cut off while it waits.
CATCH_UP_SECONDS = 4.0


class Superseded(Exception):
    """The log of this start is now the previous log."""


@dataclass
class LogSource:
    """The log of a ``start`` of a container, which counts from 0. ``is_previous``: a later start
    has begun."""

    api: Api
    pod: Manifest
    container: str
    start: int
    is_previous: bool

    def open(self, *, follows: bool, since: str) -> BaseHTTPResponse:
        """Open the log ``since`` a time, and keep it open if it ``follows`` the output."""
        query = self._query(is_previous=self.is_previous)
        if follows:
            query["follow"] = "true"
        if since:
            query["sinceTime"] = since
        return self.api.follow(f"{self._path}/log", query, silence=SILENCE_SECONDS)

    def refresh(self) -> None:
        """Read the pod again, unless it is gone. ``Superseded`` if it shows a later start, of which
        the answer may be; ``NotFound`` if the cluster no longer has this start's log."""
        pod = self.api.find(self._path)
        if pod and pod["metadata"]["uid"] != self.pod["metadata"]["uid"]:
            raise NotFound("Another pod has its name.")
        self.pod = pod or self.pod
        over = ended_starts(self.pod, self.container)
        if over > self.start + 1:
            raise NotFound("It was restarted twice.")
        if over > self.start and not self.is_previous:
            raise Superseded

    @property
    def started_at(self) -> float:
        """When this start began (Unix time); 0 if the pod does not show that."""
        state = self._state.get("running") or self._state.get("terminated") or {}
        began = state.get("startedAt")
        return parse_time(began).timestamp() if began else 0.0

    def check(self, first: bytes, *, is_first_read: bool, wait: Callable[[float], None]) -> None:
        """Check that an answer without the position is of this start. ``first``: the timestamp of
        its first line, or empty. ``is_first_read``: nothing of this log was read before. ``wait``
        lets some seconds pass.

        ``Superseded`` if it may be a later start's. ``NotFound`` if the cluster no longer has this
        start's log. ``EngineUnavailable`` if the API has to catch up with its node first.
        """
        if first and self._ended_at and parse_stamp(first) < parse_time(self._ended_at):
            return  # a later start begins after the end of this one
        if self.is_previous:
            self._check_previous(first)
        else:
            self._check_current(is_first_read=is_first_read, wait=wait)

    def _check_previous(self, first: bytes) -> None:
        """If the node has started the container twice, it returns the log of the next start here,
        and the log of this one is gone."""
        if ended_starts(self.pod, self.container) <= self.start:
            raise EngineUnavailable("The API does not show the next start yet.")
        if first and self._ended_at and _is_after(first, self._ended_at):
            raise NotFound("It was restarted twice.")

    def _check_current(self, *, is_first_read: bool, wait: Callable[[float], None]) -> None:
        """Ask the node for the previous log, which shows whether a later start has begun. A node
        never goes back, so what it says after its answer also holds for the answer.

        If it has none, that is not known. A node keeps one ended container: it removes the one of
        this start once the next start has ended, too, and has no previous log until it waits to
        start the container again. By then the pod shows the next start.
        """
        is_over = (self.pod.get("status") or {}).get("phase") in {"Succeeded", "Failed"}
        is_known = is_over or (is_first_read and not self._ended_at)
        if self._has_earlier_log() or is_known:
            return
        wait(CATCH_UP_SECONDS)
        self.refresh()
        self._has_earlier_log()

    def _has_earlier_log(self) -> bool:
        """Whether the node's previous log is that of the start before this one; ``False`` if it has
        none. ``Superseded`` if it is the log of this start."""
        query = self._query(is_previous=True)
        try:
            head = self.api.get_bytes(f"{self._path}/log", **query, limitBytes=STAMP_BYTES)
        except EngineRefused:
            return False
        first = STAMPED.match(head)
        ended_before = _finish_time(_status(self.pod, self.container).get("lastState"))
        is_after = first and ended_before and _is_after(first[1], ended_before)
        if self.start == 0 or is_after:
            raise Superseded
        return True

    @property
    def _ended_at(self) -> str:
        """When this start ended; empty if the pod does not show that."""
        return _finish_time(self._state)

    @property
    def _state(self) -> Manifest:
        """The state of this start: the container's now, or before its last restart."""
        keys = {0: "state", 1: "lastState"}
        key = keys.get(ended_starts(self.pod, self.container) - self.start, "")
        return _status(self.pod, self.container).get(key) or {}

    @property
    def _path(self) -> str:
        meta = self.pod["metadata"]
        return f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"

    def _query(self, *, is_previous: bool) -> dict[str, str]:
        query = {"container": self.container, "timestamps": "true"}
        return query | ({"previous": "true"} if is_previous else {})


def ended_starts(pod: Manifest, container: str) -> int:
    """How many starts are over for good. While the container waits to be started again, its last
    one is. After a node was restarted, a container may also wait for its current start to be found
    again: then the IDs differ."""
    status = _status(pod, container)
    last = (status.get("lastState") or {}).get("terminated") or {}
    is_its_own = bool(last) and last.get("containerID") == status.get("containerID")
    is_waiting = is_its_own and "waiting" in (status.get("state") or {})
    return int(status.get("restartCount", 0)) + is_waiting


def _status(pod: Manifest, container: str) -> Manifest:
    """The container's status; empty if there is none yet."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    return next((status for status in statuses if status["name"] == container), {})


def _is_after(stamp: bytes, ended: str) -> bool:
    """Whether a record was written after an end. Times of ends are rounded down to seconds."""
    return parse_stamp(stamp) >= parse_time(ended) + timedelta(seconds=1)


def _finish_time(state: Manifest | None) -> str:
    return str(((state or {}).get("terminated") or {}).get("finishedAt") or "")
