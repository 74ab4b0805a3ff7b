"""Where waiting jobs stand in their queues, as Kueue's visibility API says."""

import time
from collections.abc import Iterable
from math import inf

from engines.base import EngineError
from engines.kubernetes.client.api import Api
from engines.kubernetes.kueue.names import VISIBILITY, served_version
from engines.kubernetes.kueue.workload import QueuedJob

Name = tuple[str, str]  # namespace and name
ASK_SECONDS = 20.0  # seconds between two questions: places change with every start and submission
MOST_PLACES = 100  # of a queue; the jobs behind them only know that they wait


class QueuePlaces:
    """Asks once for each queue, however many jobs wait in it."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._due_at = -inf

    @property
    def is_due(self) -> bool:
        return time.monotonic() >= self._due_at

    def read(self, waiting: Iterable[QueuedJob]) -> dict[Name, int]:
        """The places of jobs in their LocalQueues, counted from 1, by the name of Kueue's Workload.
        Empty if Kueue does not say them."""
        self._due_at = time.monotonic() + ASK_SECONDS
        queues = {(queued.namespace, queued.queue) for queued in waiting if queued.queue}
        places: dict[Name, int] = {}
        try:
            version = served_version(self._api.get("/apis")["groups"], VISIBILITY) if queues else ""
            for namespace, queue in sorted(queues) if version else ():
                places |= self._places_in(version, namespace, queue)
        except EngineError:
            return places  # not allowed, or Kueue does not answer: the rest is known without
        return places

    def _places_in(self, version: str, namespace: str, queue: str) -> dict[Name, int]:
        path = f"/apis/{VISIBILITY}/{version}/namespaces/{namespace}/localqueues/{queue}"
        items = self._api.items(f"{path}/pendingworkloads", limit=MOST_PLACES)
        return {
            (namespace, item["metadata"]["name"]): item.get("positionInLocalQueue", 0) + 1
            for item in items
        }
