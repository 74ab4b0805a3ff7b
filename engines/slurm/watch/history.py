"""Ask accounting about jobs that started or ended, for the history of their workloads.

Each job is asked for by its id, once after it started and once after it ended, many in one call.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from threading import Lock
from uuid import UUID

from engines.base import ClusterEvent
from engines.slurm.client.transport import Transport
from engines.slurm.queue.commands import records
from engines.slurm.queue.jobs import BatchJob
from engines.slurm.queue.records import JobRecord, of_text
from engines.slurm.status.events import events_of
from engines.slurm.watch.poll import EARLIER, Glance

AT_ONCE = 50  # jobs in one call
#: Older starts and ends were recorded before, unless no worker ran for longer than this.
RECENT = timedelta(days=1)
LAG = timedelta(seconds=30)  # delay of accounting; after it the event has what the queue said
SILENCE = timedelta(minutes=1)  # pause after accounting did not answer
LONG_AGO = datetime.min.replace(tzinfo=UTC)
CLOCKS = timedelta(seconds=2)  # difference allowed between two times of the same start


@dataclass(frozen=True)
class Wish:
    """A job to ask accounting for, which may learn of its start or end a little later than the
    queue. ``job`` is the job as it was in the queue."""

    uid: UUID
    job: BatchJob
    since: datetime

    def is_met(self, record: JobRecord) -> bool:
        """Whether the record is of the same start and, if the job is over, has its end."""
        own = (record.id, record.name) == (self.job.id, self.job.name)
        started = record.start and self.job.start and record.start >= self.job.start - CLOCKS
        return bool(own and started and (record.is_over or not self.job.is_over))


@dataclass
class JobHistory:
    """Events of jobs that started or ended. With ``of_all`` also of other users' jobs."""

    transport: Transport
    of_all: bool = False
    _events: deque[ClusterEvent] = field(default_factory=deque)
    _taken: list[ClusterEvent] = field(default_factory=list)
    _wishes: dict[UUID, Wish] = field(default_factory=dict)
    _done: dict[UUID, tuple[str, datetime | None, bool]] = field(default_factory=dict)
    _silent_until: datetime = LONG_AGO
    _lock: Lock = field(default_factory=Lock)

    def take(self) -> list[ClusterEvent]:
        """New events since the last call. A call confirms that the events of the one before were
        stored."""
        self._taken = [self._events.popleft() for _ in range(len(self._events))]
        return list(self._taken)

    def restore(self) -> None:
        """Let the next call of :meth:`take` return the last events again, as they may not have been
        stored."""
        self._events.extendleft(reversed(self._taken))
        self._taken = []

    def ask_accounting(
        self, glances: Iterable[Glance], at: datetime, *, gone: Iterable[UUID] = ()
    ) -> None:
        """Ask about what is new in these glances and about what accounting did not have before, but
        not about workloads that are ``gone``. If another watch is asking, waits for it to finish.
        """
        with self._lock:
            for glance in glances:
                self._want(glance, at)
            for uid in gone:
                self._wishes.pop(uid, None)
                self._done.pop(uid, None)
            asked = list(self._wishes.values())[:AT_ONCE]
            if asked:
                self._store_events(asked, self._records(asked, at), at)

    def _want(self, glance: Glance, at: datetime) -> None:
        job = glance.job or glance.facts.verdict
        if job is None or job.is_queued or not job.start or not job.id.isdecimal():
            return
        mark = job.id, job.start, job.is_over
        if self._done.get(glance.uid) == mark:
            return
        self._done[glance.uid] = mark
        if job.is_over and not job.end:  # not every queue has it
            job = replace(job, end=at)
        moment = job.end if job.is_over else job.start
        if moment and at - moment < RECENT:
            self._wishes[glance.uid] = Wish(glance.uid, job, at)

    def _records(self, asked: Iterable[Wish], at: datetime) -> list[JobRecord] | None:
        if at < self._silent_until:
            return None
        jobs = [wish.job for wish in asked]
        since = min(job.start for job in jobs if job.start) - EARLIER
        answer = records(self.transport, [job.id for job in jobs], since=since, of_all=self.of_all)
        if answer is None:
            self._silent_until = at + SILENCE
        return answer

    def _store_events(
        self, asked: Iterable[Wish], answer: list[JobRecord] | None, at: datetime
    ) -> None:
        """Create the events of records that are complete. Without JSON, or after some time, they
        have what the queue said."""
        for wish in asked:
            own = [it for it in answer or () if (it.id, it.name) == (wish.job.id, wish.job.name)]
            met = any(wish.is_met(record) for record in own)
            if not met and answer is not None and at - wish.since < LAG:
                continue
            for record in own if met else [of_text(wish.job)]:
                self._events.extend(events_of(wish.uid, record))
            del self._wishes[wish.uid]
