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

CHUNK_BYTES = 256 * 1024
ROUND_SECONDS = 0.3  # long logs must not delay phase changes
MOST_AT_ONCE = 500  # workloads per round
SWEEP_SECONDS = 60.0  # seconds between two rounds over ended workloads whose logs are not complete
AFTER_DELETION = timedelta(minutes=5)  # how long to wait for more output of pods
WAS_OBSERVED = Q(observed_run__gt=0)
rounds = itertools.count()


class CollectQueue:
    """A queue of a cluster's workloads whose output is to be collected, longest waiting first."""

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


queues: dict[UUID, CollectQueue] = defaultdict(CollectQueue)


def collect_output(cluster: Cluster) -> None:
    """Make one round over workloads whose output is not complete, within ``ROUND_SECONDS``.

    If the engine knows which workloads have news, the round covers only these, else all. Each round
    starts with another workload, so that one that prints without end does not starve the others.
    """
    deadline = time.monotonic() + ROUND_SECONDS
    engine = engine_for(cluster)
    queue = queues[cluster.pk]
    news = engine.news()
    due = WAS_OBSERVED if news is None else _due_filter(queue, news)
    pending = _pending_workloads(cluster, due) if due else []
    first = 0
    if news is None:
        first = next(rounds) % max(len(pending), 1)
    unread = dict.fromkeys(workload.pk for workload in pending)
    for workload in pending[first:] + pending[:first]:
        if time.monotonic() > deadline:
            break  # the watch has to extend its lease
        try:
            if collect_workload(engine, workload, deadline).read:
                del unread[workload.pk]
        except EngineUnavailable as error:
            # One unreachable node must not hold back the output of others.
            log.warning("The output of workload %s waits: %s", workload.pk, error)
        except Exception as error:
            # A full disk, or output that breaks our parsing, must not stop the watch or the other
            # workloads. The next round tries again.
            is_defect = not (isinstance(error, OSError) or storage.is_outage(error))
            words = "Could not keep the output of workload %s: %s"
            log.error(words, workload.pk, error, exc_info=error if is_defect else None)
    # Engines report each piece of news once, so what this round did not reach goes back.
    queue.add(unread)


def _due_filter(queue: CollectQueue, news: Iterable[UUID]) -> Q:
    """Return a filter for workloads to read: those with news, and every ``SWEEP_SECONDS`` those
    that ended, because an end need not print anything. An empty filter means that there are
    none."""
    queue.add(news)
    uids = queue.pop()
    due = Q(pk__in=uids) if uids else Q()
    if time.monotonic() - queue.swept > SWEEP_SECONDS:
        queue.swept = time.monotonic()
        due |= WAS_OBSERVED & ~Q(phase__in=ACTIVE)
    return due


def _pending_workloads(cluster: Cluster, due: Q) -> list[Workload]:
    """Return the workloads in the filter with output to collect, including recently deleted ones,
    whose pods may still print."""
    exists = Q(deleted_at=None) & ~Q(phase=Phase.DELETING)
    rows = (
        Workload.objects.filter(due, cluster=cluster, logs_complete=False)
        .filter(exists | Q(deleted_at__gt=timezone.now() - AFTER_DELETION))
        .select_related("project")
        # Large, and not needed here:
        .defer("spec_json", "draft_json", "origins_json", "manifest_json")
        .order_by("created_at")
    )
    for workload in rows:
        workload.cluster = cluster
    return list(rows)


def collect_last_output(cluster: Cluster, observation: Observation, deadline: float) -> bool:
    """Collect the rest of a run before its end is reported. ``True`` if nothing more is expected
    soon. The run's last attempt may not be known yet."""
    rows = Workload.objects.filter(pk=observation.workload_id, run=observation.run)
    ending = rows.filter(phase__in=HANDED_OVER, logs_complete=False, deleted_at=None)
    workload = ending.exclude(phase=Phase.DELETING).select_related("project", "cluster").first()
    if workload is None:
        return True  # nothing to report, or nothing to wait for
    try:
        reconcile.record_attempt(workload, observation.attempt)
        progress = collect_workload(engine_for(cluster), workload, deadline, last=True)
    except (EngineError, OSError, ValueError) as error:
        log.warning("The last output of workload %s waits: %s", workload.pk, error)
        return False
    return progress.read and not progress.awaited


@dataclass
class Progress:
    """The result of reading logs.

    ``grew``: there was new output. ``read``: all output that exists now was read and parsed.
    ``ended``: no log will get more output. ``awaited``: a log may get more output within moments.
    ``late``: why output is missing, in words.
    """

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


def collect_workload(
    engine: Engine, workload: Workload, deadline: float, *, last: bool = False
) -> Progress:
    """Collect from every rank of every incomplete attempt, until the deadline, and show what is
    new. ``last``: the ranks have ended, even if the phase does not say so yet."""
    total, is_complete = _collect_attempts(engine, workload, deadline, last=last)
    has_usage = _collect_usage(engine, workload)
    has_new_reason = logs.set_missing_reason(workload.pk, total.late)
    has_news = total.grew or has_usage or has_new_reason
    is_newly_complete = is_complete and workload.phase not in ACTIVE and _mark_complete(workload)
    if is_newly_complete or (total.grew and limit.claim_check(workload.pk)):
        limit.enforce_limit(workload.pk)
    # A diagnosis of half an output would be replaced in the next round.
    if total.read and (has_news or is_complete):
        diagnosis.record_diagnosis(workload)
    if is_newly_complete:
        limit.forget_workload(workload.pk)
        events.announce(workload)
    if has_news:
        events.announce_output(workload)
    return total


def _collect_attempts(
    engine: Engine, workload: Workload, deadline: float, *, last: bool
) -> tuple[Progress, bool]:
    """Collect from all incomplete attempts, and mark those that are complete now. Returns the
    progress of all together, and whether all are complete."""
    logs_by_attempt = _logs_by_attempt(engine, workload)
    is_over = workload.phase not in ACTIVE
    all_complete = True
    total = Progress()
    for attempt in workload.attempts.order_by("run", "attempt"):
        attempt_logs = logs_by_attempt.get((attempt.run, attempt.attempt), [])
        # A pod of a complete attempt may still be there, and print more.
        if attempt.complete and not any(pod_log.origin for pod_log, _ in attempt_logs):
            continue
        is_older = (attempt.run, attempt.attempt) < (workload.run, workload.attempt)
        has_ended = last or is_over or is_older
        progress = _collect_attempt(
            engine, workload, attempt, attempt_logs, deadline, ended=has_ended
        )
        total.add(progress)
        is_complete = progress.read and progress.ended and (is_over or is_older)
        all_complete = all_complete and is_complete
        if is_complete != attempt.complete:
            Attempt.objects.filter(pk=attempt.pk).update(complete=is_complete)
    return total, all_complete


def _mark_complete(workload: Workload) -> bool:
    """Mark the workload's logs as complete; ``True`` if they were not before."""
    # Guarded: the workload may have been started again since its row was read.
    now = Workload.objects.filter(pk=workload.pk, run=workload.run, phase=workload.phase)
    return now.filter(logs_complete=False).update(logs_complete=True) > 0


def _logs_by_attempt(
    engine: Engine, workload: Workload
) -> dict[tuple[int, int], list[tuple[Log, logs.Stream]]]:
    """Return the logs by run and attempt. If the engine does not count attempts, the starts of its
    pods count instead."""
    incomplete_runs = workload.attempts.filter(complete=False).values_list("run", flat=True)
    by_attempt: dict[tuple[int, int], list[tuple[Log, logs.Stream]]] = defaultdict(list)
    for run in sorted({*incomplete_runs, workload.run}):
        for rank_log in engine.logs(workload.handle, run=run):
            stream = logs.stream_of_log(workload.pk, rank_log)
            by_attempt[run, stream.attempt].append((rank_log, stream))
            if rank_log.origin and run == workload.run:
                reconcile.record_attempt(workload, stream.attempt)
    Attempt.create_missing(workload)
    return by_attempt


def _collect_attempt(
    engine: Engine,
    workload: Workload,
    attempt: Attempt,
    unread: list[tuple[Log, logs.Stream]],
    deadline: float,
    *,
    ended: bool,
) -> Progress:
    """Read a chunk of each log in turn. If the ranks have ``ended``, the last line needs no
    newline."""
    progress = Progress()
    while unread and time.monotonic() < deadline:
        growing = []
        for rank_log, stream in unread:
            chunk = _pull_chunk(engine, workload, rank_log, stream)
            if chunk.data:
                growing.append((rank_log, stream))
            else:
                progress.ended = progress.ended and chunk.ended
                progress.late = progress.late or chunk.late
                progress.awaited = progress.awaited or (chunk.awaited and not chunk.ended)
        unread = growing
        progress.grew = progress.grew or bool(growing)
    is_whole = ended and progress.ended and not unread
    is_parsed = attempt.complete and not progress.grew
    if not is_parsed:
        is_parsed = parse.store_samples(workload, attempt, deadline, ended=is_whole)
    progress.read = not unread and is_parsed
    return progress


def _pull_chunk(engine: Engine, workload: Workload, rank_log: Log, stream: logs.Stream) -> LogChunk:
    """Read and store one chunk."""
    # Another process whose lease just ran out may do the same at this moment. The offset tells the
    # store which bytes it has already.
    offset = logs.size(stream)
    chunk = engine.read_log(
        workload.handle,
        rank_log,
        offset=offset,
        cursor=logs.engine_cursor(stream),
        limit=CHUNK_BYTES,
    )
    if chunk.data:
        logs.append_output(stream, rank_log, chunk.data, offset=offset, cursor=chunk.cursor)
    return chunk


def _collect_usage(engine: Engine, workload: Workload) -> bool:
    samples = engine.usage(workload.handle, run=workload.run, after=_time_of_last_usage(workload))
    rows = Sample.objects.bulk_create(
        Sample(
            workload=workload,
            kind=SampleKind.USAGE,
            run=workload.run,
            attempt=_attempt_of(workload, usage),
            rank=usage.rank,
            at=usage.at,
            values=_measured_values(usage),
        )
        for usage in samples
    )
    downsample.thin_if_due(workload, rows)
    return bool(samples)


def _attempt_of(workload: Workload, usage: UsageSample) -> int:
    """Return the attempt during which a sample was taken."""
    started = Log(workload.run, usage.rank, usage.attempt, usage.origin)
    return logs.stream_of_log(workload.pk, started).attempt


def _measured_values(usage: UsageSample) -> dict[str, float]:
    values = {
        "cpu": usage.cpu,
        "memory": usage.memory,
        "gpu": usage.gpu,
        "gpu_memory": usage.gpu_memory,
    }
    return {name: value for name, value in values.items() if value is not None}


def _time_of_last_usage(workload: Workload) -> datetime | None:
    """Return the time of this run's last sample, or ``None``. The newest sample belongs to the
    newest run that has any."""
    latest = newest_usage(workload.pk)
    return latest.at if latest and latest.run == workload.run else None
