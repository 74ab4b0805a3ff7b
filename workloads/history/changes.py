"""How workloads stand after a change: read once for all who are told of it."""

import asyncio
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Self
from uuid import UUID
from weakref import WeakKeyDictionary

from asgiref.sync import sync_to_async
from django.db.models import Max, Q
from django.utils import timezone

from accounts.models import User
from core.database.connections import let_go
from core.web.query import whole_number
from workloads.models import Event, Workload

MOST_REPLAYED = 1000  # whoever missed more reads the list again
# Events get their numbers before they are committed, so some of lower numbers come later.
LATE_EVENTS, LATE = 1000, timedelta(seconds=30)


@dataclass(frozen=True)
class WorkloadChange:
    """``version`` grows with each event of the workload."""

    pk: UUID
    name: str
    project: int
    phase: str
    deleted_at: datetime | None
    version: int

    def said(self) -> dict[str, Any]:
        """As programs get it."""
        return {
            "id": str(self.pk),
            "name": self.name,
            "projectId": str(self.project),
            "phase": self.phase,
            "deleted": self.deleted_at is not None,
            "version": self.version,
        }


@dataclass(frozen=True)
class Cursor:
    """Up to which event somebody was told of what changed, and when."""

    event: int
    at: datetime

    def __str__(self) -> str:
        return f"{self.event}-{int(self.at.timestamp())}"

    @classmethod
    def of(cls, text: str) -> Self | None:
        """``None`` for what is none."""
        event, at = map(whole_number, text.partition("-")[::2])
        if event is None or at is None or at > datetime(9999, 1, 1, tzinfo=UTC).timestamp():
            return None
        return cls(event, datetime.fromtimestamp(at, tz=UTC))

    def after(self, changes: Iterable[WorkloadChange]) -> "Cursor":
        return Cursor(max([self.event, *(it.version for it in changes)]), timezone.now())


def newest() -> Cursor:
    try:
        number = Event.objects.aggregate(number=Max("pk"))["number"] or 0
    finally:
        let_go()
    return Cursor(number, timezone.now())


def since(then: Cursor, user: User, now: Cursor) -> set[UUID] | None:
    """Workloads that changed since, which ``user`` may see, and perhaps some that changed shortly
    before. ``None`` when they are too many, or ``then`` is not from here."""
    late = Q(pk__gt=then.event - LATE_EVENTS, at__gte=then.at - LATE)
    rows = Event.objects.filter(
        Q(pk__gt=then.event) | late, workload__in=Workload.objects.within_reach(user)
    )
    ids = rows.order_by().values_list("workload_id", flat=True).distinct()
    missed = set(ids[: MOST_REPLAYED + 1])
    return None if then.event > now.event or len(missed) > MOST_REPLAYED else missed


async def of(ids: Collection[UUID]) -> list[WorkloadChange]:
    """How they stand now, without those that are not there."""
    if not ids:
        return []
    reading = _readings.setdefault(asyncio.get_running_loop(), SharedReading())
    there = await reading.read(ids)
    return [there[pk] for pk in ids if pk in there]


@dataclass
class SharedReading:
    """A change is told to many at once, who all ask for it. Whoever comes during a reading waits
    for the next one, because the one that runs may have begun before their change."""

    wanted: set[UUID] = field(default_factory=set)
    answer: "asyncio.Future[dict[UUID, WorkloadChange]] | None" = None
    task: "asyncio.Task[None] | None" = None

    async def read(self, ids: Collection[UUID]) -> dict[UUID, WorkloadChange]:
        self.wanted |= set(ids)
        if self.answer is None:
            self.answer = asyncio.get_running_loop().create_future()
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._run())
        return await asyncio.shield(self.answer)

    async def _run(self) -> None:
        while self.answer is not None:
            ids, answer = self.wanted, self.answer
            self.wanted, self.answer = set(), None
            try:
                answer.set_result(await sync_to_async(_rows, thread_sensitive=False)(ids))
            except Exception as error:
                answer.set_exception(error)


_readings: WeakKeyDictionary[asyncio.AbstractEventLoop, SharedReading] = WeakKeyDictionary()


def _rows(ids: Iterable[UUID]) -> dict[UUID, WorkloadChange]:
    rows = Workload.objects.filter(pk__in=ids).order_by().annotate(version=Max("events__pk"))
    columns = rows.values_list("pk", "name", "project_id", "phase", "deleted_at", "version")
    try:
        return {row[0]: WorkloadChange(*row[:-1], version=row[-1] or 0) for row in columns}
    finally:
        let_go()
