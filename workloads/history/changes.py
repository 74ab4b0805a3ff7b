"""The state of workloads after a change, read once for all listeners."""

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
from core.database.connections import release_connection
from core.web.query import parse_number
from workloads.models import Event, Workload

MOST_REPLAYED = 1000  # a listener that missed more has to list everything again
# Event ids are assigned before the commit, so lower ids may appear later.
LATE_EVENTS = 1000
LATE = timedelta(seconds=30)


@dataclass(frozen=True)
class WorkloadChange:
    """The state of a workload; ``version`` grows with each of its events."""

    pk: UUID
    name: str
    project: int
    phase: str
    deleted_at: datetime | None
    version: int

    def as_json(self) -> dict[str, Any]:
        """The change as JSON for programs."""
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
    """The last event that a listener received, and when."""

    event: int
    at: datetime

    def __str__(self) -> str:
        return f"{self.event}-{int(self.at.timestamp())}"

    @classmethod
    def of(cls, text: str) -> Self | None:
        """Parse a cursor; ``None`` if ``text`` is not one."""
        event, at = map(parse_number, text.partition("-")[::2])
        if event is None or at is None or at > datetime(9999, 1, 1, tzinfo=UTC).timestamp():
            return None
        return cls(event, datetime.fromtimestamp(at, tz=UTC))

    def advanced_by(self, changes: Iterable[WorkloadChange]) -> "Cursor":
        return Cursor(max([self.event, *(it.version for it in changes)]), timezone.now())


def newest_cursor() -> Cursor:
    try:
        number = Event.objects.aggregate(number=Max("pk"))["number"] or 0
    finally:
        release_connection()
    return Cursor(number, timezone.now())


def changed_since(then: Cursor, user: User, now: Cursor) -> set[UUID] | None:
    """Return the workloads visible to ``user`` that changed since ``then``, and perhaps some that
    changed shortly before. ``None`` if there are too many, or ``then`` is from another database."""
    if then.event > now.event:
        return None
    is_late = Q(pk__gt=then.event - LATE_EVENTS, at__gte=then.at - LATE)
    rows = Event.objects.filter(
        Q(pk__gt=then.event) | is_late, workload__in=Workload.objects.within_reach(user)
    )
    ids = rows.order_by().values_list("workload_id", flat=True).distinct()
    missed = set(ids[: MOST_REPLAYED + 1])
    return missed if len(missed) <= MOST_REPLAYED else None


async def read_changes(ids: Collection[UUID]) -> list[WorkloadChange]:
    """Return the present state of these workloads, without those that no longer exist."""
    if not ids:
        return []
    reading = _readings.setdefault(asyncio.get_running_loop(), SharedReading())
    states = await reading.read(ids)
    return [states[pk] for pk in ids if pk in states]


@dataclass
class SharedReading:
    """Combines simultaneous reads: many listeners hear of a change at once, and all read it.

    A listener that comes during a read waits for the next one, because the present one may have
    started before the change.
    """

    wanted_ids: set[UUID] = field(default_factory=set)
    answer: "asyncio.Future[dict[UUID, WorkloadChange]] | None" = None
    task: "asyncio.Task[None] | None" = None

    async def read(self, ids: Collection[UUID]) -> dict[UUID, WorkloadChange]:
        self.wanted_ids |= set(ids)
        if self.answer is None:
            self.answer = asyncio.get_running_loop().create_future()
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._run())
        return await asyncio.shield(self.answer)

    async def _run(self) -> None:
        while self.answer is not None:
            ids = self.wanted_ids
            answer = self.answer
            self.wanted_ids = set()
            self.answer = None
            try:
                answer.set_result(await sync_to_async(_read_rows, thread_sensitive=False)(ids))
            except Exception as error:
                answer.set_exception(error)


_readings: WeakKeyDictionary[asyncio.AbstractEventLoop, SharedReading] = WeakKeyDictionary()


def _read_rows(ids: Iterable[UUID]) -> dict[UUID, WorkloadChange]:
    rows = Workload.objects.filter(pk__in=ids).order_by().annotate(version=Max("events__pk"))
    columns = rows.values_list("pk", "name", "project_id", "phase", "deleted_at", "version")
    try:
        return {row[0]: WorkloadChange(*row[:-1], version=row[-1] or 0) for row in columns}
    finally:
        release_connection()
