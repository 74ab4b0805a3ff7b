"""Bringing output and usage of running ranks into our own store, a bounded piece at a time."""

import itertools
import logging
import time
from datetime import datetime

from clusters.engines import engine_for
from clusters.models import Cluster
from engines.base import Engine, EngineUnavailable, Usage
from spec.phases import ACTIVE, Phase
from workloads import history, logs, metrics, thinning
from workloads.models import Attempt, Sample, SampleKind, Workload

log = logging.getLogger(__name__)

PIECE_BYTES = 256 * 1024
ROUND_SECONDS = 0.3  # a long log must not keep phase changes waiting
rounds = itertools.count()


def collect(cluster: Cluster) -> None:
    """One round over the workloads whose output is not all here yet, as far as its time allows.

    Each round begins with another workload, so that one that prints without end starves none.
    """
    deadline = time.monotonic() + ROUND_SECONDS
    pending = list(
        Workload.objects.filter(
            cluster=cluster, logs_complete=False, observed_run__gt=0, deleted_at=None
        )
        .exclude(phase=Phase.DELETING)
        .select_related("project", "cluster")
        .defer("spec_json", "draft_json", "origins_json")  # large, and not needed here
        .order_by("created_at")
    )
    engine = engine_for(cluster)
    first = next(rounds) % max(len(pending), 1)
    for workload in pending[first:] + pending[:first]:
        if time.monotonic() > deadline:
            break  # the lease of the watch must not run out meanwhile
        try:
            collect_one(engine, workload, deadline)
        except EngineUnavailable as error:
            # One node that is away must not keep back the output of the others.
            log.warning("The output of workload %s waits: %s", workload.pk, error)
        except OSError:
            # A full disk must not stop the phases from being followed; the next round tries again.
            log.exception("Could not keep the output of workload %s", workload.pk)


def collect_one(engine: Engine, workload: Workload, deadline: float) -> None:
    """Collect from every rank of every attempt whose output is not all here."""
    Attempt.note(workload)
    ended = workload.phase not in ACTIVE
    news, complete = False, True
    for attempt in workload.attempts.filter(complete=False).order_by("run", "attempt"):
        drained, grew = _collect_attempt(engine, workload, attempt, deadline)
        news = news or grew
        is_over = ended or (attempt.run, attempt.attempt) < (workload.run, workload.attempt)
        if drained and is_over:
            Attempt.objects.filter(pk=attempt.pk).update(complete=True)
        else:
            complete = False
    news = _collect_usage(engine, workload) or news
    if complete and ended:
        now = Workload.objects.filter(pk=workload.pk, run=workload.run, phase=workload.phase)
        now.update(logs_complete=True)
    if news:
        history.announce_output(workload)


def _collect_attempt(
    engine: Engine, workload: Workload, attempt: Attempt, deadline: float
) -> tuple[bool, bool]:
    """Whether nothing is left to read, and whether anything was new. A piece a rank in turn."""
    left, grew = list(range(workload.num_pods)), False
    while left and time.monotonic() < deadline:
        left = [rank for rank in left if _pull(engine, workload, attempt, rank)]
        grew = grew or bool(left)
    parsed = metrics.record(workload, attempt, deadline)
    return not left and parsed, grew


def _pull(engine: Engine, workload: Workload, attempt: Attempt, rank: int) -> bool:
    """Bring one piece; ``False`` at the end. Someone whose lease ran out may be here as well."""
    stream = logs.Stream(workload.pk, attempt.run, attempt.attempt, rank)
    offset = logs.size(stream)
    data = engine.read_log(
        workload.handle,
        run=attempt.run,
        rank=rank,
        attempt=attempt.attempt,
        offset=offset,
        limit=PIECE_BYTES,
    )
    if data:
        logs.append(stream, data, offset=offset)
    return bool(data)


def _collect_usage(engine: Engine, workload: Workload) -> bool:
    found = engine.usage(workload.handle, run=workload.run, after=_last_usage(workload))
    made = Sample.objects.bulk_create(
        Sample(
            workload=workload,
            kind=SampleKind.USAGE,
            run=workload.run,
            attempt=usage.attempt,
            rank=usage.rank,
            at=usage.at,
            values=_values(usage),
        )
        for usage in found
    )
    thinning.consider(workload, made)
    return bool(found)


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
