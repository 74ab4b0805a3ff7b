"""Ending the jobs whose data cannot be fetched, which no operator ends.

The job is suspended, so that its pods go, and says itself why: whoever looks at it, now or after a
restart, sees that it failed.
"""

import logging
from uuid import UUID

from engines.base import EngineError
from engines.kubernetes.api import Api
from engines.kubernetes.kinds import GAVE_UP
from engines.kubernetes.known import Known
from engines.kubernetes.sources import FETCHER

log = logging.getLogger(__name__)


class GivingUp:
    """``heed`` hears of each change, ``act`` asks the cluster."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._hopeless: dict[UUID, Known] = {}

    def heed(self, uid: UUID, known: Known) -> None:
        if fetches(known) and not known.is_over:
            self._hopeless[uid] = known

    def act(self) -> None:
        """What fails here is tried at the next change of the pod, which waits to be restarted."""
        changed, self._hopeless = self._hopeless, {}
        for known in changed.values():
            look = known.look
            if look is None or look.is_suspended or not (why := look.hopeless):
                continue
            meta = look.job["metadata"]
            wish = {
                "metadata": {
                    "resourceVersion": meta["resourceVersion"],
                    "annotations": {GAVE_UP: why},
                },
                "spec": {"runPolicy": {"suspend": True}},
            }
            try:
                self._api.merge(look.kind.path(meta["namespace"], meta["name"]), wish)
            except EngineError as error:
                log.info("%s is not given up yet: %s", meta["name"], error)


def fetches(known: Known) -> bool:
    """Whether pods of the job fetch data before they run. The pods are asked: a job that somebody
    else gave our label may look like anything."""
    return known.job is not None and any(
        one["name"].startswith(FETCHER)
        for pod in known.pods.values()
        for one in pod["spec"].get("initContainers") or ()
    )
