"""Collect the output and usage of running ranks into our own store, in bounded pieces."""

import itertools
import logging
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from clusters.connections import engine_for
from clusters.models import Cluster
from core import storage
from engines.base import Engine, EngineError, EngineUnavailable, Observation, UsageSample
from engines.logs import Log, LogChunk
from spec.phases import ACTIVE, HANDED_OVER, Phase
from workloads import diagnosis, logs, reconcile
from workloads.history import events
from workloads.logs import limit
from workloads.metrics import downsample, parse
from workloads.models import Attempt, Sample, SampleKind, Workload
from workloads.models.sample import newest_usage

log = logging.getLogger(__name__)

PIECE_BYTES = 256 * 1024
ROUND_SECONDS = 0.3  # long logs must not delay phase changes
MOST_AT_ONCE = 500  # workloads per round
SWEEP_SECONDS = 60.0  # seconds between two rounds over ended workloads whose logs are not complete
AFTER_DELETION = timedelta(minutes=5)  # how long to wait for more output of pods
WAS_OBSERVED = Q(observed_run__gt=0)
rounds = itertools.count()


class Waiting:
    """A queue of a cluster's workloads to collect, longest waiting first."""

    def __init__(self) -> None:
        self.swept = 0.0
        self._ids: dict[UUID, None] = {}

    def add(self, ids: Iterable[UUID]) -> None:
        self._ids |= dict.fromkeys(ids)

    def pop(self) -> list[UUID]:
        """Take up to ``MOST_AT_ONCE`` workloads off the queue."""
        uids = list(islice(self._ids, MOST_AT_ONCE))
        for uid in uids:
            del self._ids[uid]
        return uids


waiting: dict[UUID, Waiting] = defaultdict(Waiting)


def collect(cluster: Cluster) -> None:
    """One round over workloads whose output is not complete, within ``ROUND_SECONDS``.

    If the engine knows which have news, only these are looked at; else all. Each round starts with
    another workload, so that one that prints without end does not starve others.
    """
    deadline = time.monotonic() + ROUND_SECONDS
    engine = engine_for(cluster)
    queue = waiting[cluster.pk]
    news = engine.news()
    due = WAS_OBSERVED if news is None else _due(queue, news)
    pending = _pending(cluster, due) if due else []
    first = next(rounds) % max(len(pending), 1) if news is None else 0
    left = dict.fromkeys(workload.pk for workload in pending)
    for workload in pending[first:] + pending[:first]:
        if time.monotonic() > deadline:
            break  # the watch has to extend its lease
        try:
            if collect_one(engine, workload, deadline).read:
                del left[workload.pk]
        except EngineUnavailable as error:
            # One unreachable node must not hold back the output of others.
            log.warning("The output of workload %s waits: %s", workload.pk, error)
        except Exception as error:
            # A full disk, or output that breaks our parsing, must not stop the watch or the other
            # workloads. The next round tries again.
            is_defect = not (isinstance(error, OSError) or storage.is_outage(error))
            words = "Could not keep the output of workload %s: %s"
            log.error(words, workload.pk, error, exc_info=error if is_defect else None)
    queue.add(left)


def _due(queue: Waiting, news: Iterable[UUID]) -> Q:
    """A filter for workloads to look at: those with news, and now and then those that ended,
    because an end need not print anything. An empty filter stands for none."""
    queue.add(news)
    uids = queue.pop()
    due = Q(pk__in=uids) if uids else Q()
    if time.monotonic() - queue.swept > SWEEP_SECONDS:
        queue.swept = time.monotonic()
        due |= WAS_OBSERVED & ~Q(phase__in=ACTIVE)
    return due


def _pending(cluster: Cluster, due: Q) -> list[Workload]:
    """The workloads in the filter with output to collect, including recently deleted ones, whose
    pods may still print."""
    here = Q(deleted_at=None) & ~Q(phase=Phase.DELETING)
    rows = (
        Workload.objects.filter(due, cluster=cluster, logs_complete=False)
        .filter(here | Q(deleted_at__gt=timezone.now() - AFTER_DELETION))
        .select_related("project")
        # Large, and not needed here:
        .defer("spec_json", "draft_json", "origins_json", "manifest_json")
        .order_by("created_at")
    )
    for workload in rows:
        workload.cluster = cluster
    return list(rows)


def last_words(cluster: Cluster, observation: Observation, deadline: float) -> bool:
    """Collect the rest of a run before its end is reported. ``True`` if nothing more is expected
    soon. The run's last attempt may not be known yet."""
    rows = Workload.objects.filter(pk=observation.workload_id, run=observation.run)
    ending = rows.filter(phase__in=HANDED_OVER, logs_complete=False, deleted_at=None)
    workload = ending.exclude(phase=Phase.DELETING).select_related("project", "cluster").first()
    if workload is None:
        return True  # nothing to report, or nothing to wait for
    try:
        reconcile.record_attempt(workload, observation.attempt)
        progress = collect_one(engine_for(cluster), workload, deadline, last=True)
    except (EngineError, OSError, ValueError) as error:
        log.warning("The last output of workload %s waits: %s", workload.pk, error)
        return False
    return progress.read and not progress.awaited


@dataclass
class Progress:
    """What a round achieved. ``read``: nothing is left for now. ``ended``: nothing more will come.
    ``awaited``: more may come within moments. ``late``: why nothing comes."""

    grew: bool = False
    read: bool = True
    ended: bool = True
    awaited: bool = False
    late: str = ""

    def add(self, other: "Progress") -> None:
        self.grew = self.grew or other.grew
        self.late = self.late or other.late
        self.read = self.read and other.read
        self.ended = self.ended and other.ended
        self.awaited = self.awaited or other.awaited


def collect_one(
    engine: Engine, workload: Workload, deadline: float, *, last: bool = False
) -> Progress:
    """Collect from every rank of every incomplete attempt, until the deadline. ``last``: the ranks
    have ended, even if the phase does not say so yet."""
    by_attempt = _logs(engine, workload)
    over = workload.phase not in ACTIVE
    complete = True
    total = Progress()
    for attempt in workload.attempts.order_by("run", "attempt"):
        own = by_attempt.get((attempt.run, attempt.attempt), [])
        if attempt.complete and not any(one.origin for one, _ in own):
            continue
        older = (attempt.run, attempt.attempt) < (workload.run, workload.attempt)
        ended = last or over or older
        met = _collect_attempt(engine, workload, attempt, own, deadline, ended=ended)
        total.add(met)
        is_complete = met.read and met.ended and (over or older)
        complete = complete and is_complete
        if is_complete != attempt.complete:
            Attempt.objects.filter(pk=attempt.pk).update(complete=is_complete)
    news = _collect_usage(engine, workload) or total.grew
    news = logs.set_missing_reason(workload.pk, total.late) or news
    settled = complete and over and _settle(workload)
    if settled or (total.grew and limit.claim_check(workload.pk)):
        limit.enforce_limit(workload.pk)
    if total.read and (news or complete):
        diagnosis.record_diagnosis(workload)
    if settled:
        limit.forget_workload(workload.pk)
        events.announce(workload)
    if news:
        events.announce_output(workload)
    return total


def _settle(workload: Workload) -> bool:
    """Mark the workload's logs as complete; ``True`` if they were not before."""
    now = Workload.objects.filter(pk=workload.pk, run=workload.run, phase=workload.phase)
    return now.filter(logs_complete=False).update(logs_complete=True) > 0


def _logs(
    engine: Engine, workload: Workload
) -> dict[tuple[int, int], list[tuple[Log, logs.Stream]]]:
    """Logs by run and attempt. If the engine counts no attempts, starts of its pods do."""
    left = workload.attempts.filter(complete=False).values_list("run", flat=True)
    by_attempt: dict[tuple[int, int], list[tuple[Log, logs.Stream]]] = defaultdict(list)
    for run in sorted({*left, workload.run}):
        for one in engine.logs(workload.handle, run=run):
            stream = logs.stream_of_log(workload.pk, one)
            by_attempt[run, stream.attempt].append((one, stream))
            if one.origin and run == workload.run:
                reconcile.record_attempt(workload, stream.attempt)
    Attempt.create_missing(workload)
    return by_attempt


def _collect_attempt(
    engine: Engine,
    workload: Workload,
    attempt: Attempt,
    left: list[tuple[Log, logs.Stream]],
    deadline: float,
    *,
    ended: bool,
) -> Progress:
    """Read a chunk of each log in turn. If the ranks have ``ended``, the last line needs no
    newline."""
    met = Progress()
    while left and time.monotonic() < deadline:
        more = []
        for one, stream in left:
            piece = _pull(engine, workload, one, stream)
            if piece.data:
                more.append((one, stream))
            else:
                met.ended = met.ended and piece.ended
                met.late = met.late or piece.late
                met.awaited = met.awaited or (piece.awaited and not piece.ended)
        left = more
        met.grew = met.grew or bool(more)
    whole = ended and met.ended and not left
    is_old = attempt.complete and not met.grew
    parsed = is_old or parse.store_samples(workload, attempt, deadline, ended=whole)
    met.read = not left and parsed
    return met


def _pull(engine: Engine, workload: Workload, one: Log, stream: logs.Stream) -> LogChunk:
    """Read and store one chunk. Another process whose lease just ran out may do the same."""
    offset = logs.size(stream)
    piece = engine.read_log(
        workload.handle, one, offset=offset, cursor=logs.engine_cursor(stream), limit=PIECE_BYTES
    )
    if piece.data:
        logs.append_output(stream, one, piece.data, offset=offset, cursor=piece.cursor)
    return piece


def _collect_usage(engine: Engine, workload: Workload) -> bool:
    samples = engine.usage(workload.handle, run=workload.run, after=_last_usage(workload))
    rows = Sample.objects.bulk_create(
        Sample(
            workload=workload,
            kind=SampleKind.USAGE,
            run=workload.run,
            attempt=_attempt_of(workload, usage),
            rank=usage.rank,
            at=usage.at,
            values=_values(usage),
        )
        for usage in samples
    )
    downsample.thin_if_due(workload, rows)
    return bool(samples)


def _attempt_of(workload: Workload, usage: UsageSample) -> int:
    """The attempt during which a sample was taken."""
    started = Log(workload.run, usage.rank, usage.attempt, usage.origin)
    return logs.stream_of_log(workload.pk, started).attempt


def _values(usage: UsageSample) -> dict[str, float]:
    values = {
        "cpu": usage.cpu,
        "memory": usage.memory,
        "gpu": usage.gpu,
        "gpu_memory": usage.gpu_memory,
    }
    return {name: value for name, value in values.items() if value is not None}


def _last_usage(workload: Workload) -> datetime | None:
    """Time of this run's last sample, or ``None``. The newest sample belongs to the newest run that
    has any."""
    latest = newest_usage(workload.pk)
    return latest.at if latest and latest.run == workload.run else None
