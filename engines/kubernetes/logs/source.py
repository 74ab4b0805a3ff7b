"""Where the API has a container's log, and whether it is still that one."""

from dataclasses import dataclass

from urllib3.response import BaseHTTPResponse

from engines.base import EngineError, EngineRefused, Manifest
from engines.kubernetes.client.api import Api, NotFound
from engines.kubernetes.logs import rotation

PATIENCE = 300.0  # seconds without a byte until the connection is made anew
FIRST = 64  # bytes of a line, with its time


@dataclass(frozen=True)
class LogSource:
    """The log of the start of a container that its node has as the current one, or of the
    ``previous``."""

    api: Api
    pod: Manifest
    container: str
    previous: bool

    def open(self, *, follows: bool, since: str) -> BaseHTTPResponse:
        """What it printed ``since`` a time, and what it prints where one ``follows``."""
        query = self._query(previous=self.previous)
        query |= {"follow": "true"} if follows else {}
        query |= {"sinceTime": since} if since else {}
        return self.api.follow(f"{self._path}/log", query, silence=PATIENCE)

    def latest_pod(self) -> Manifest | None:
        """As the API has it now; ``None`` where it is gone. The API knows a pod by its name, which
        another one may bear by now: ``NotFound``."""
        now = self.api.find(self._path)
        if now and now["metadata"]["uid"] != self.pod["metadata"]["uid"]:
            raise NotFound("Another pod has its name.")
        return now

    def first_stretch(self) -> bytes:
        """Of what its node has; nothing where it does not answer."""
        return self._first(rotation.STRETCH)

    def newest(self) -> bytes:
        """The first line that its node has, if only its time. Nothing says since when to look, for
        a node would read its file up to there."""
        return self._first(FIRST)

    def first_before(self) -> bytes | None:
        """The first line of the start before the current one, if only its time; ``None`` where
        there was none. ``EngineUnavailable``: the node does not answer."""
        try:
            return self._text(FIRST, previous=True)
        except EngineRefused:
            return None

    def _first(self, limit: int) -> bytes:
        try:
            return self._text(limit, previous=self.previous)
        except EngineError:
            return b""

    def _text(self, limit: int, *, previous: bool) -> bytes:
        query = self._query(previous=previous)
        return self.api.text(f"{self._path}/log", **query, limitBytes=limit)

    @property
    def _path(self) -> str:
        meta = self.pod["metadata"]
        return f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"

    def _query(self, *, previous: bool) -> dict[str, str]:
        query = {"container": self.container, "timestamps": "true"}
        return query | ({"previous": "true"} if previous else {})
