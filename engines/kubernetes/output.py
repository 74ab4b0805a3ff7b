"""What a rank printed, from the log of its container.

The API knows no byte offsets: a piece in the middle costs all that comes before it. So a log that
still grows is read again only so often that it costs about :data:`RATE` bytes a second.
"""

import time

from engines.base import EngineRefused, EngineUnavailable
from engines.kubernetes.api import Api
from engines.kubernetes.observing import Look

RATE = 4 * 1024**2
AWAY = 10.0  # seconds until a node that did not answer is asked again


class Output:
    """``read`` goes by what was read before, which only saves work: it is right without."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._due: dict[tuple[str, int], float] = {}
        self._away: dict[str, float] = {}

    def read(self, look: Look, rank: int, attempt: int, offset: int, limit: int) -> bytes:
        """Attempt *n* of a rank is its container after *n* restarts. The cluster keeps the last
        two; a rank that restarted less often than others still shows the same one."""
        seen = look.present.get(look.slots[rank]) if rank < len(look.slots) else None
        if seen is None or not (seen.started_at or seen.ended):
            return b""
        instance = min(attempt, seen.restarts)
        meta, previous = seen.pod["metadata"], instance == seen.restarts - 1
        key = (meta["uid"], instance)
        if instance < seen.restarts - 1 or (seen.is_ready and self._is_early(key)):
            return b""
        self._check(seen.pod["spec"].get("nodeName", ""))
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/log"
        options: dict[str, str | int] = {
            "container": look.kind.container,
            "limitBytes": offset + limit,
        }
        if previous:
            options["previous"] = "true"
        try:
            text = self._api.text(path, **options)
        except EngineRefused:
            return b""  # gone, or removed by its node
        except EngineUnavailable:
            self._away[seen.pod["spec"].get("nodeName", "")] = time.monotonic() + AWAY
            raise
        self._due[key] = time.monotonic() + len(text) / RATE
        return text[offset:]

    def forget(self, look: Look) -> None:
        for seen in look.pods:
            for instance in range(seen.restarts + 1):
                self._due.pop((seen.pod["metadata"]["uid"], instance), None)

    def _is_early(self, key: tuple[str, int]) -> bool:
        return time.monotonic() < self._due.get(key, 0.0)

    def _check(self, node: str) -> None:
        if time.monotonic() < self._away.get(node, 0.0):
            raise EngineUnavailable(f"The node {node} did not answer a moment ago.")
