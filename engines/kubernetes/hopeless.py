"""Give up jobs whose data cannot be fetched, and gangs of which another rank than the lead failed
where each has a Job, because no operator does.

The job is stopped, which removes its pods, and annotated with the reason, so that every process
can see that it failed, also after a restart. The failure is final: a job that somebody resumes is
stopped again. Kueue stops what Kueue manages; any other job is suspended.
"""

import logging
from datetime import UTC, datetime
from uuid import UUID

from engines.base import ClusterEvent, EngineError
from engines.kubernetes.client.api import Api
from engines.kubernetes.kueue.door import Kueue
from engines.kubernetes.labels import GAVE_UP
from engines.kubernetes.manifests.pod.fetchers import FETCHER
from engines.kubernetes.status.job import JobView
from engines.kubernetes.watch.snapshot import Snapshot

RESUMED = (
    "Someone resumed the job on the cluster. It has failed permanently, so it is suspended again."
)
log = logging.getLogger(__name__)


class HopelessJobs:
    """Call ``on_change`` with each change; ``stop`` then asks the cluster."""

    def __init__(self, api: Api, kueue: Kueue) -> None:
        self._api = api
        self._kueue = kueue
        self._hopeless: dict[UUID, Snapshot] = {}

    def on_change(self, uid: UUID, snapshot: Snapshot) -> None:
        is_suspect = fetches_data(snapshot) or snapshot.followers or give_up_reason(snapshot)
        if not snapshot.is_over and is_suspect:
            self._hopeless[uid] = snapshot

    def stop(self) -> list[ClusterEvent]:
        """Stop the hopeless jobs; returns an event for each that somebody had resumed. A failed
        call is repeated at the pod's next change, which comes with its next restart."""
        changed = self._hopeless
        self._hopeless = {}
        events = []
        for uid, snapshot in changed.items():
            before = give_up_reason(snapshot)
            view = snapshot.job_view
            if view is None or view.is_suspended or view.is_halted:
                continue
            why = before or view.fetch_failure or view.gang_failure
            if not why:
                continue
            meta = view.manifest["metadata"]
            try:
                self._give_up(view, why)
            except EngineError as error:
                log.info("%s is not given up yet: %s", meta["name"], error)
                continue
            if before and (view.queued is None or view.queued.was_reactivated):
                key = f"resumed {meta['uid']} {meta['resourceVersion']}"
                events.append(ClusterEvent(uid, key, datetime.now(UTC), "Resumed", RESUMED))
        return events

    def _give_up(self, view: JobView, why: str) -> None:
        """Annotate the job with the reason and stop it. The reason comes first, so that nobody
        takes the end for a stop."""
        meta = view.manifest["metadata"]
        wish = view.suspension
        if view.is_managed:
            wish = {"metadata": {"annotations": {}}}
        wish["metadata"]["annotations"][GAVE_UP] = why
        self._api.merge(view.kind.path(meta["namespace"], meta["name"]), wish)
        if view.is_managed:
            self._kueue.stop(view.queued)


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
