"""Bringing output and usage of running ranks into our own store, a bounded piece at a time."""

import time
from datetime import datetime

from django.db.models import Max

from clusters.engines import engine_for
from clusters.models import Cluster
from engines.base import Engine
from spec.phases import ACTIVE, Phase
from workloads import history, logs, metrics
from workloads.models import Sample, SampleKind, Workload

PIECE_BYTES = 256 * 1024
ROUND_SECONDS = 0.3  # a long log must not keep phase changes waiting


def collect(cluster: Cluster) -> None:
    """One round over every workload whose output is not all here yet."""
    deadline = time.monotonic() + ROUND_SECONDS
    pending = Workload.objects.filter(
        cluster=cluster, logs_complete=False, observed_run__gt=0, deleted_at=None
    ).select_related("project", "cluster")
    engine = engine_for(cluster)
    for workload in pending:
        drained = collect_one(engine, workload, deadline)
        if drained and workload.phase not in ACTIVE and workload.phase != Phase.DELETING:
            Workload.objects.filter(pk=workload.pk, run=workload.run).update(logs_complete=True)


def collect_one(engine: Engine, workload: Workload, deadline: float) -> bool:
    """Collect from every rank; ``True`` when nothing was left to read."""
    drained, news = True, False
    for attempt in range(max(workload.attempt - 1, 0), workload.attempt + 1):
        for rank in range(workload.num_pods):
            stream = logs.Stream(workload.pk, workload.run, attempt, rank)
            state = _drain(engine, workload, stream, deadline)
            drained, news = drained and state.empty, news or state.grew
    news = _collect_usage(engine, workload) or news
    if news:
        history.announce_output(workload)
    return drained


class _Drained:
    def __init__(self, *, empty: bool, grew: bool) -> None:
        self.empty, self.grew = empty, grew


def _drain(engine: Engine, workload: Workload, stream: logs.Stream, deadline: float) -> _Drained:
    grew = False
    while time.monotonic() < deadline:
        offset = logs.size(stream)
        data = engine.read_log(
            workload.handle,
            run=stream.run,
            rank=stream.rank,
            attempt=stream.attempt,
            offset=offset,
            limit=PIECE_BYTES,
        )
        if not data:
            return _Drained(empty=True, grew=grew)
        metrics.record(workload, stream, data, offset)
        logs.append(stream, data)
        grew = True
    return _Drained(empty=False, grew=grew)


def _collect_usage(engine: Engine, workload: Workload) -> bool:
    found = engine.usage(workload.handle, run=workload.run, after=_last_usage(workload))
    Sample.objects.bulk_create(
        Sample(
            workload=workload,
            kind=SampleKind.USAGE,
            run=workload.run,
            attempt=usage.attempt,
            rank=usage.rank,
            at=usage.at,
            values={"cpu": usage.cpu, "memory": usage.memory}
            | ({} if usage.gpu is None else {"gpu": usage.gpu}),
        )
        for usage in found
    )
    return bool(found)


def _last_usage(workload: Workload) -> datetime | None:
    samples = workload.samples.filter(kind=SampleKind.USAGE, run=workload.run)
    latest: datetime | None = samples.aggregate(latest=Max("at"))["latest"]
    return latest
