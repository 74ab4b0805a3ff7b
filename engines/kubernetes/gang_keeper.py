"""Take back gangs of which only some ranks found a node, and try them again one after the other,
where neither a scheduler nor a queue places gangs as a whole.

The job notes it, so that every process sees the same, also after a restart. A take-back is neither
a failure nor a stop, and counts as no retry.
"""

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

from engines.base import ClusterEvent, EngineError
from engines.kubernetes.client.api import Api, Conflict, NotFound
from engines.kubernetes.jobs import suspension
from engines.kubernetes.status.job import JobView
from engines.kubernetes.status.take_back import (
    PartialGang,
    TakeBack,
    Turns,
    WaitingGang,
    note_take_back,
)
from engines.kubernetes.watch.snapshot import Snapshot

TAKEN = (
    "Only {placed} of {size} ranks found a node within {seconds} s, so the gang gives its nodes "
    "back."
)
TRIED = "The gang is tried again, after {times} in vain."
NEVER = datetime.min.replace(tzinfo=UTC)
log = logging.getLogger(__name__)


class GangKeeper:
    """Call ``on_change`` with each change; ``take_turns`` then changes the cluster. With a
    ``patience`` of zero, no gang is taken back, and those that were are tried again."""

    def __init__(self, api: Api, patience: timedelta) -> None:
        self._api = api
        self._patience = patience
        self._changed: dict[UUID, Snapshot] = {}
        self._gangs: dict[UUID, Snapshot] = {}  # placed in part, or waiting to be tried again
        self._holding: set[UUID] = set()  # workloads with ranks on nodes
        self._left_at = datetime.now(UTC)
        self._tried_at = NEVER
        self._room_at = NEVER

    def on_change(self, uid: UUID, snapshot: Snapshot) -> None:
        self._changed[uid] = snapshot

    def take_turns(self) -> list[ClusterEvent]:
        """Take gangs back, or try one again; returns an event for each. A call that fails is
        repeated the next time, if it is still right then."""
        now = datetime.now(UTC)
        changed = self._changed
        self._changed = {}
        for uid, snapshot in changed.items():
            self._sort_in(uid, snapshot, now)
        return list(self._take_turns(now)) if self._gangs else []

    def _sort_in(self, uid: UUID, snapshot: Snapshot, now: datetime) -> None:
        view = snapshot.job_view
        if view and (view.partial_since or view.taken_back):
            self._gangs[uid] = snapshot
        else:
            self._gangs.pop(uid, None)
        if view and not snapshot.is_over and view.placed:
            self._holding.add(uid)
        elif uid in self._holding:
            self._holding.remove(uid)
            if view is None or not view.taken_back:
                self._room_at = now

    def _take_turns(self, now: datetime) -> Iterator[ClusterEvent]:
        views = {uid: it.job_view for uid, it in self._gangs.items() if it.job_view}
        partial = list(filter(None, map(_partial_gang, views.values())))
        waiting = list(filter(None, map(_waiting_gang, views.values())))
        if any(not gang.has_left for gang in waiting):
            self._left_at = now
        turns = Turns(self._patience, self._left_at, self._tried_at, self._room_at)
        if self._patience:
            for uid in turns.gangs_to_take_back(partial, waiting, now):
                if self._take_back(views[uid], now):
                    yield self._taken_event(views[uid], now)
        chosen = turns.gang_to_try(partial, waiting, now)
        if chosen and self._try_again(views[chosen]):
            self._tried_at = now
            yield _tried_event(views[chosen], now)

    def _take_back(self, view: JobView, now: datetime) -> bool:
        note = note_take_back(view.manifest, placed=view.placed, now=now)
        return self._set_suspended(view, note, wish=True)

    def _try_again(self, view: JobView) -> bool:
        note = view.taken_back
        if note is None:
            return False
        tried = TakeBack(note.run, note.times, note.placed, at="")
        return self._set_suspended(view, tried, wish=False)

    def _set_suspended(self, view: JobView, note: TakeBack, *, wish: bool) -> bool:
        """Suspend or resume a job, unless somebody has changed it since it was read: a stop comes
        first."""
        meta = view.manifest["metadata"]
        changed = {"resourceVersion": meta["resourceVersion"], "annotations": note.annotation}
        patch = {"metadata": changed, "spec": suspension(view.kind, wish=wish)}
        try:
            self._api.merge(view.kind.path(meta["namespace"], meta["name"]), patch)
        except (Conflict, NotFound):
            return False
        except EngineError as error:
            log.info("%s does not change its turn yet: %s", meta["name"], error)
            return False
        return True

    def _taken_event(self, view: JobView, now: datetime) -> ClusterEvent:
        seconds = round(self._patience.total_seconds())
        text = TAKEN.format(placed=view.placed, size=len(view.slots), seconds=seconds)
        return _event(view, now, "TakenBack", text)


def _partial_gang(view: JobView) -> PartialGang | None:
    since = view.partial_since
    return PartialGang(view.workload_id, view.created, since) if since else None


def _waiting_gang(view: JobView) -> WaitingGang | None:
    note = view.taken_back
    return WaitingGang(view.workload_id, view.created, note, view.has_left) if note else None


def _tried_event(view: JobView, now: datetime) -> ClusterEvent:
    times = view.taken_back.times if view.taken_back else 1
    text = TRIED.format(times="one try" if times == 1 else f"{times} tries")
    return _event(view, now, "TriedAgain", text)


def _event(view: JobView, now: datetime, reason: str, text: str) -> ClusterEvent:
    meta = view.manifest["metadata"]
    key = f"{reason} {meta['uid']} {meta['resourceVersion']}"
    return ClusterEvent(view.workload_id, key, now, reason, text)
