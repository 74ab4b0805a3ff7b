"""Requests for a container's log, and checks that it is still the same container."""

from dataclasses import dataclass

from urllib3.response import BaseHTTPResponse

from engines.base import EngineError, EngineRefused, Manifest
from engines.kubernetes.client.api import Api, NotFound
from engines.kubernetes.logs import rotation

PATIENCE = 300.0  # seconds without data until the connection is replaced
FIRST = 64  # bytes: enough for a timestamp


@dataclass(frozen=True)
class LogSource:
    """The log of a container's current start, or of the ``previous`` one."""

    api: Api
    pod: Manifest
    container: str
    previous: bool

    def open(self, *, follows: bool, since: str) -> BaseHTTPResponse:
        """Open the log ``since`` a time, and keep it open if it ``follows`` the output."""
        query = self._query(previous=self.previous)
        query |= {"follow": "true"} if follows else {}
        query |= {"sinceTime": since} if since else {}
        return self.api.follow(f"{self._path}/log", query, silence=PATIENCE)

    def latest_pod(self) -> Manifest | None:
        """The pod as it is now, or ``None`` if it is gone. ``NotFound`` if another pod has its
        name."""
        now = self.api.find(self._path)
        if now and now["metadata"]["uid"] != self.pod["metadata"]["uid"]:
            raise NotFound("Another pod has its name.")
        return now

    def first_stretch(self) -> bytes:
        """The beginning of the log that the node has; empty if it does not answer."""
        return self._first(rotation.STRETCH)

    def newest(self) -> bytes:
        """The timestamp of the first line that the node has; empty if it does not answer. No start
        time is sent, because the node would read its file up to there."""
        return self._first(FIRST)

    def last(self) -> bytes:
        """The timestamp of the last line that the node has; empty if it does not answer."""
        line = rotation.STAMPS.match(self._first(FIRST, tailLines=1))
        return line[1] if line else b""

    def first_before(self) -> bytes | None:
        """The timestamp of the first line of the previous start; ``None`` if there was none.
        ``EngineUnavailable`` if the node does not answer."""
        try:
            return self._text(FIRST, previous=True)
        except EngineRefused:
            return None

    def _first(self, limit: int, **query: int) -> bytes:
        try:
            return self._text(limit, previous=self.previous, **query)
        except EngineError:
            return b""

    def _text(self, limit: int, *, previous: bool, **query: int) -> bytes:
        asked = self._query(previous=previous)
        return self.api.text(f"{self._path}/log", **asked, **query, limitBytes=limit)

    @property
    def _path(self) -> str:
        meta = self.pod["metadata"]
        return f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"

    def _query(self, *, previous: bool) -> dict[str, str]:
        query = {"container": self.container, "timestamps": "true"}
        return query | ({"previous": "true"} if previous else {})
