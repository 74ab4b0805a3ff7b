"""Find out whether a namespace is being deleted, together with everything in it."""

import time

from engines.base import EngineError
from engines.kubernetes.client.api import Api
from engines.kubernetes.objects import NAMESPACES

NAMESPACE_SECONDS = 1.0  # seconds between two queries of one namespace


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
                is_ending = False  # the reason is missing, but the loss is reported
            self._ending[space] = (now, is_ending)
        return is_ending
