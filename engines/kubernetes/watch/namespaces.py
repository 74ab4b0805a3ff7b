"""Whether a namespace goes, and all that is in it."""

import time

from engines.base import EngineError
from engines.kubernetes.client.api import Api
from engines.kubernetes.objects import NAMESPACES

NAMESPACE_SECONDS = 1.0  # between two questions about one, which may lose many workloads at once


class Namespaces:
    def __init__(self, api: Api) -> None:
        self._api = api
        self._ending: dict[str, tuple[float, bool]] = {}

    def is_ending(self, space: str) -> bool:
        now = time.monotonic()
        asked_at, is_ending = self._ending.get(space, (0.0, False))
        if not asked_at or now - asked_at > NAMESPACE_SECONDS:
            try:
                namespace = self._api.find(f"{NAMESPACES}/{space}")
                is_ending = namespace is None or "deletionTimestamp" in namespace["metadata"]
            except EngineError:
                is_ending = False  # a reason less; that the job is gone is told all the same
            self._ending[space] = (now, is_ending)
        return is_ending
