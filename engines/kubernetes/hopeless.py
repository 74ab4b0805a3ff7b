"""Give up jobs whose data cannot be fetched, because no operator does.

The job is suspended, which removes its pods, and annotated with the reason, so that every process
can see that it failed, also after a restart. The failure is final: a job that somebody resumes is
suspended again.
"""

import logging
from datetime import UTC, datetime
from uuid import UUID

from engines.base import ClusterEvent, EngineError
from engines.kubernetes.client.api import Api
from engines.kubernetes.jobs import suspension
from engines.kubernetes.labels import GAVE_UP
from engines.kubernetes.manifests.pod.fetchers import FETCHER
from engines.kubernetes.watch.snapshot import Snapshot

RESUMED = (
    "Someone resumed the job on the cluster. It has failed permanently, so it is suspended again."
)
log = logging.getLogger(__name__)


class HopelessJobs:
    """Call ``on_change`` with each change; ``suspend`` then asks the cluster."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._hopeless: dict[UUID, Snapshot] = {}

    def on_change(self, uid: UUID, snapshot: Snapshot) -> None:
        if not snapshot.is_over and (fetches_data(snapshot) or give_up_reason(snapshot)):
            self._hopeless[uid] = snapshot

    def suspend(self) -> list[ClusterEvent]:
        """Suspend the hopeless jobs; returns an event for each that somebody had resumed. A failed
        call is repeated at the pod's next change, which comes with its next restart."""
        changed = self._hopeless
        self._hopeless = {}
        events = []
        for uid, snapshot in changed.items():
            before = give_up_reason(snapshot)
            view = snapshot.job_view
            if view is None or view.is_suspended or not (why := before or view.fetch_failure):
                continue
            meta = view.manifest["metadata"]
            wish = {
                "metadata": {
                    "resourceVersion": meta["resourceVersion"],
                    "annotations": {GAVE_UP: why},
                },
                "spec": suspension(view.kind),
            }
            try:
                self._api.merge(view.kind.path(meta["namespace"], meta["name"]), wish)
            except EngineError as error:
                log.info("%s is not given up yet: %s", meta["name"], error)
                continue
            if before:
                key = f"resumed {meta['uid']} {meta['resourceVersion']}"
                events.append(ClusterEvent(uid, key, datetime.now(UTC), "Resumed", RESUMED))
        return events


def give_up_reason(snapshot: Snapshot) -> str:
    """Why the job was given up, in words; empty if it was not."""
    notes = (snapshot.job or {}).get("metadata", {}).get("annotations") or {}
    return str(notes.get(GAVE_UP, ""))


def fetches_data(snapshot: Snapshot) -> bool:
    """Whether pods of the job fetch data before they run. The pods are looked at, not the job,
    because a foreign job with our label may have any shape."""
    return snapshot.job is not None and any(
        one["name"].startswith(FETCHER)
        for pod in snapshot.pods.values()
        for one in pod["spec"].get("initContainers") or ()
    )
