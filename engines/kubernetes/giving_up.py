"""Ending the jobs whose data cannot be fetched, which no operator ends.

The job is suspended, so that its pods go, and says itself why: whoever looks at it, now or after a
restart, sees that it failed. That is final, so a job that somebody resumes is suspended again.
"""

import logging
from datetime import UTC, datetime
from uuid import UUID

from engines.base import ClusterEvent, EngineError
from engines.kubernetes.api import Api
from engines.kubernetes.kinds import GAVE_UP
from engines.kubernetes.known import Known
from engines.kubernetes.sources import FETCHER

AGAIN = "Somebody resumed the job on the cluster. It failed for good, so it is suspended again."
log = logging.getLogger(__name__)


class GivingUp:
    """``heed`` hears of each change, ``act`` asks the cluster."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._hopeless: dict[UUID, Known] = {}

    def heed(self, uid: UUID, known: Known) -> None:
        if not known.is_over and (fetches(known) or given_up(known)):
            self._hopeless[uid] = known

    def act(self) -> list[ClusterEvent]:
        """What is to be told of jobs that were resumed. What fails here is tried at the next change
        of the pod, which waits to be restarted."""
        changed, self._hopeless = self._hopeless, {}
        told = []
        for uid, known in changed.items():
            before, look = given_up(known), known.look
            if look is None or look.is_suspended or not (why := before or look.hopeless):
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
                continue
            if before:
                key = f"resumed {meta['uid']} {meta['resourceVersion']}"
                told.append(ClusterEvent(uid, key, datetime.now(UTC), "Resumed", AGAIN))
        return told


def given_up(known: Known) -> str:
    """Why the job was, in words; empty where it was not."""
    notes = (known.job or {}).get("metadata", {}).get("annotations") or {}
    return str(notes.get(GAVE_UP, ""))


def fetches(known: Known) -> bool:
    """Whether pods of the job fetch data before they run. The pods are asked: a job that somebody
    else gave our label may look like anything."""
    return known.job is not None and any(
        one["name"].startswith(FETCHER)
        for pod in known.pods.values()
        for one in pod["spec"].get("initContainers") or ()
    )
