"""Have the followers of a gang do as its lead does: no controller of the cluster knows that they
belong together. They rest while the lead's Job is suspended or has ended, and run while it runs."""

import logging
from collections.abc import Iterator
from uuid import UUID

from engines.base import EngineError, Manifest
from engines.kubernetes.client.api import Api
from engines.kubernetes.followers import is_over, set_suspended
from engines.kubernetes.jobs import is_suspended
from engines.kubernetes.ranks import is_owned_by
from engines.kubernetes.watch.snapshot import Snapshot

log = logging.getLogger(__name__)


class FollowerKeeper:
    """Call ``on_change`` with each change; ``follow`` then changes the cluster."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._changed: dict[UUID, Snapshot] = {}

    def on_change(self, uid: UUID, snapshot: Snapshot) -> None:
        if any(_strays(snapshot)):
            self._changed[uid] = snapshot

    def follow(self) -> None:
        """Suspend or resume followers. A call that fails is repeated the next time."""
        changed = self._changed
        self._changed = {}
        for uid, snapshot in changed.items():
            try:
                for job in _strays(snapshot):
                    set_suspended(self._api, job, wish=snapshot.is_over)
            except EngineError as error:
                log.info("the followers of %s are not told yet: %s", uid, error)
                self._changed.setdefault(uid, snapshot)


def _strays(snapshot: Snapshot) -> Iterator[Manifest]:
    """The followers that do not do as their lead does."""
    if snapshot.job is None or snapshot.job["metadata"].get("deletionTimestamp"):
        return
    for job in snapshot.followers.values():
        ours = is_owned_by(job, snapshot.job) and not is_over(job)
        if ours and is_suspended(job) is not snapshot.is_over:
            yield job
