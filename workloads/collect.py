"""Bringing output and usage of running ranks into our own store, a bounded piece at a time."""

import itertools
import logging
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from uuid import UUID

from django.db.models import Q

from clusters.engines import engine_for
from clusters.models import Cluster
from engines.base import Engine, EngineUnavailable, Usage
from engines.logs import Log, Piece
from spec.phases import ACTIVE, Phase
from workloads import history, logs, metrics, reconcile, thinning
from workloads.models import Attempt, Sample, SampleKind, Workload

log = logging.getLogger(__name__)

PIECE_BYTES = 256 * 1024
ROUND_SECONDS = 0.3  # a long log must not keep phase changes waiting
MOST_AT_ONCE = 500  # workloads of one round
SWEEP_SECONDS = 60.0  # between two looks at all that ended and is not here in full
SEEN = Q(observed_run__gt=0)
rounds = itertools.count()


class Waiting:
    """Workloads of one cluster to look at, those first that wait longest."""

    def __init__(self) -> None:
        self.swept = 0.0
        self._ids: dict[UUID, None] = {}

    def add(self, ids: Iterable[UUID]) -> None:
        self._ids |= dict.fromkeys(ids)

    def pop(self) -> list[UUID]:
        """Some, which are no longer waiting."""
        found = list(islice(self._ids, MOST_AT_ONCE))
        for uid in found:
            del self._ids[uid]
        return found


waiting: dict[UUID, Waiting] = defaultdict(Waiting)


def collect(cluster: Cluster) -> None:
    """One round over the workloads whose output is not all here yet, as far as its time allows.

    An engine may know which have news; else all are looked at. Each round begins with another
    workload, so that one that prints without end starves none.
    """
    deadline = time.monotonic() + ROUND_SECONDS
    engine, mine = engine_for(cluster), waiting[cluster.pk]
    news = engine.news()
    pending = _pending(cluster, SEEN if news is None else _due(mine, news))
    first = next(rounds) % max(len(pending), 1) if news is None else 0
    left = {workload.pk: None for workload in pending}
    for workload in pending[first:] + pending[:first]:
        if time.monotonic() > deadline:
            break  # the lease of the watch must not run out meanwhile
        try:
            if collect_one(engine, workload, deadline):
                del left[workload.pk]
        except EngineUnavailable as error:
            # One node that is away must not keep back the output of the others.
            log.warning("The output of workload %s waits: %s", workload.pk, error)
        except OSError:
            # A full disk must not stop the phases from being followed; the next round tries again.
            log.exception("Could not keep the output of workload %s", workload.pk)
    mine.add(left)


def _due(mine: Waiting, news: Iterable[UUID]) -> Q:
    """Those with news, and now and then those that ended, for an end need not print anything."""
    mine.add(news)
    due = Q(pk__in=mine.pop())
    if time.monotonic() - mine.swept > SWEEP_SECONDS:
        mine.swept = time.monotonic()
        due |= SEEN & ~Q(phase__in=ACTIVE)
    return due


def _pending(cluster: Cluster, due: Q) -> list[Workload]:
    found = (
        Workload.objects.filter(due, cluster=cluster, logs_complete=False, deleted_at=None)
        .exclude(phase=Phase.DELETING)
        .select_related("project", "cluster")
        .defer("spec_json", "draft_json", "origins_json")  # large, and not needed here
        .order_by("created_at")
    )
    return list(found)


@dataclass
class Progress:
    """``read``: nothing is left for now. ``ended``: nothing more will come. ``late``: why not."""

    grew: bool = False
    read: bool = True
    ended: bool = True
    late: str = ""


def collect_one(engine: Engine, workload: Workload, deadline: float) -> bool:
    """Collect from every rank of every attempt whose output is not all here. ``False`` when the
    time did not suffice."""
    found = _logs(engine, workload)
    over, news, read, complete = workload.phase not in ACTIVE, False, True, True
    late = ""
    for attempt in workload.attempts.order_by("run", "attempt"):
        mine = found.get((attempt.run, attempt.attempt), [])
        if attempt.complete and not any(one.origin for one, _ in mine):
            continue
        met = _collect_attempt(engine, workload, attempt, mine, deadline)
        news, read, late = news or met.grew, read and met.read, late or met.late
        older = (attempt.run, attempt.attempt) < (workload.run, workload.attempt)
        is_complete = met.read and met.ended and (over or older)
        complete = complete and is_complete
        if is_complete != attempt.complete:
            Attempt.objects.filter(pk=attempt.pk).update(complete=is_complete)
    news = _collect_usage(engine, workload) or news
    news = logs.note_late(workload.pk, late) or news
    if complete and over:
        now = Workload.objects.filter(pk=workload.pk, run=workload.run, phase=workload.phase)
        now.update(logs_complete=True)
    if news:
        history.announce_output(workload)
    return read


def _logs(
    engine: Engine, workload: Workload
) -> dict[tuple[int, int], list[tuple[Log, logs.Stream]]]:
    """By run and attempt. Where the engine counts no attempts, what is found counts them."""
    left = workload.attempts.filter(complete=False).values_list("run", flat=True)
    found: dict[tuple[int, int], list[tuple[Log, logs.Stream]]] = defaultdict(list)
    for run in sorted({*left, workload.run}):
        for one in engine.logs(workload.handle, run=run):
            stream = logs.place(workload.pk, one)
            found[run, stream.attempt].append((one, stream))
            if one.origin and run == workload.run:
                reconcile.attempt_starts(workload, stream.attempt)
    Attempt.note(workload)
    return found


def _collect_attempt(
    engine: Engine,
    workload: Workload,
    attempt: Attempt,
    left: list[tuple[Log, logs.Stream]],
    deadline: float,
) -> Progress:
    """A piece of each log in turn."""
    met = Progress()
    while left and time.monotonic() < deadline:
        more = []
        for one, stream in left:
            piece = _pull(engine, workload, one, stream)
            if piece.data:
                more.append((one, stream))
            else:
                met.ended, met.late = met.ended and piece.ended, met.late or piece.late
        left = more
        met.grew = met.grew or bool(more)
    parsed = (attempt.complete and not met.grew) or metrics.record(workload, attempt, deadline)
    met.read = not left and parsed
    return met


def _pull(engine: Engine, workload: Workload, one: Log, stream: logs.Stream) -> Piece:
    """Bring one piece. Someone whose lease ran out may be here as well."""
    offset = logs.size(stream)
    piece = engine.read_log(
        workload.handle, one, offset=offset, cursor=logs.resume(stream), limit=PIECE_BYTES
    )
    if piece.data:
        logs.keep(stream, one, piece.data, offset=offset, cursor=piece.cursor)
    return piece


def _collect_usage(engine: Engine, workload: Workload) -> bool:
    found = engine.usage(workload.handle, run=workload.run, after=_last_usage(workload))
    made = Sample.objects.bulk_create(
        Sample(
            workload=workload,
            kind=SampleKind.USAGE,
            run=workload.run,
            attempt=_attempt_of(workload, usage),
            rank=usage.rank,
            at=usage.at,
            values=_values(usage),
        )
        for usage in found
    )
    thinning.consider(workload, made)
    return bool(found)


def _attempt_of(workload: Workload, usage: Usage) -> int:
    """That whose output was printed meanwhile."""
    started = Log(workload.run, usage.rank, usage.attempt, usage.origin)
    return logs.place(workload.pk, started).attempt


def _values(usage: Usage) -> dict[str, float]:
    values = {
        "cpu": usage.cpu,
        "memory": usage.memory,
        "gpu": usage.gpu,
        "gpu_memory": usage.gpu_memory,
    }
    return {name: value for name, value in values.items() if value is not None}


def _last_usage(workload: Workload) -> datetime | None:
    """The latest sample of this run; the newest sample is of the newest run that has any."""
    latest = workload.samples.filter(kind=SampleKind.USAGE).order_by("-at").first()
    return latest.at if latest and latest.run == workload.run else None
