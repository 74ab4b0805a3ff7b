"""Which gangs give their nodes back, and which is tried again. Pure.

Where nothing places a gang as a whole, two gangs can each hold nodes that the other one needs. A
gang of which only some ranks found a node for too long is *taken back*: its job is suspended, which
removes all of its pods. Later it is resumed, the oldest gang first.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Self
from uuid import UUID

from engines.base import Manifest
from engines.kubernetes.labels import TAKEN_BACK, run_number
from engines.kubernetes.status.conditions import parse_time
from spec.problems.causes import Cause, CauseKind

#: Seconds for which a gang may be placed in part, unless the cluster has a setting of its own.
PATIENCE_SECONDS = 120
#: After a gang is tried again, how long the scheduler may take to place or refuse its pods.
SETTLING = timedelta(seconds=10)
LONGEST_PAUSE = timedelta(minutes=10)
TITLE = "Only {placed} of {size} ranks found a node, so the gang gave its nodes back"
TODO = (
    "Wait: it is tried again once there is room, the oldest gang first. Fewer ranks, or smaller "
    "ones, fit sooner."
)


@dataclass(frozen=True)
class TakeBack:
    """What a job notes of the take-backs of this ``run``: how many ``times``, and how many ranks
    were ``placed`` at the last one. ``at`` is when that was; empty once the gang is tried again."""

    run: int
    times: int
    placed: int
    at: str

    @classmethod
    def of(cls, job: Manifest) -> Self | None:
        """The note of the job's present run; ``None`` if it was never taken back in it."""
        text = (job["metadata"].get("annotations") or {}).get(TAKEN_BACK, "")
        try:
            note = cls(**json.loads(text)) if text else None
        except (ValueError, TypeError):
            return None  # somebody wrote it by hand
        return note if note and note.run == run_number(job) else None

    @property
    def annotation(self) -> dict[str, str]:
        return {TAKEN_BACK: json.dumps(asdict(self))}

    def again_from(self, patience: timedelta) -> datetime:
        """When the gang is tried again even if no room is known of. The pause doubles with each
        time, up to ten minutes."""
        doubled: timedelta = patience * 2 ** min(self.times - 1, 10)
        pause = min(doubled, max(LONGEST_PAUSE, patience))
        return parse_time(self.at) + pause

    def cause(self, size: int) -> Cause:
        return Cause(CauseKind.GANG, TITLE.format(placed=self.placed, size=size), TODO)


def note_take_back(job: Manifest, *, placed: int, now: datetime) -> TakeBack:
    before = TakeBack.of(job)
    times = before.times + 1 if before else 1
    at = now.astimezone(UTC).isoformat(timespec="seconds")
    return TakeBack(run_number(job), times, placed, at)


@dataclass(frozen=True)
class PartialGang:
    """A gang of which only some ranks have a node, ``since`` when."""

    uid: UUID
    created: datetime
    since: datetime


@dataclass(frozen=True)
class WaitingGang:
    """A gang that was taken back. Until it ``has_left``, it still has pods."""

    uid: UUID
    created: datetime
    note: TakeBack
    has_left: bool


@dataclass(frozen=True)
class Turns:
    """Decides what happens next to the gangs of a cluster.

    ``left_at`` is when the last gang that was taken back had left its nodes, ``tried_at`` when one
    was last tried again, and ``room_at`` when a workload last ended.
    """

    patience: timedelta
    left_at: datetime
    tried_at: datetime
    room_at: datetime

    def gangs_to_take_back(
        self, partial: Iterable[PartialGang], waiting: Iterable[WaitingGang], now: datetime
    ) -> list[UUID]:
        """The gangs that were placed in part for too long. Of several, the oldest keeps its nodes:
        what the others give back may be all that it lacks."""
        if any(not gang.has_left for gang in waiting):
            return []
        late = [it for it in partial if now - max(it.since, self.left_at) >= self.patience]
        late.sort(key=lambda gang: gang.created)
        return [gang.uid for gang in (late[1:] or late)]

    def gang_to_try(
        self, partial: Iterable[PartialGang], waiting: Iterable[WaitingGang], now: datetime
    ) -> UUID | None:
        """The oldest gang that was taken back and may be tried again: one at a time, so that no
        two of them compete. It waits for room, or for the end of its pause."""
        is_busy = any(True for _ in partial) or now - self.tried_at < SETTLING
        if is_busy:
            return None
        ready = [gang for gang in waiting if gang.has_left and self._may_fit(gang, now)]
        oldest = min(ready, key=lambda gang: gang.created, default=None)
        return oldest.uid if oldest else None

    def _may_fit(self, gang: WaitingGang, now: datetime) -> bool:
        has_room = self.room_at > parse_time(gang.note.at)
        return has_room or now >= gang.note.again_from(self.patience)
