"""What runs, waits and has ended lately in the scope of the overview."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min, Q, Sum
from django.utils import timezone

from clusters.models import Cluster, State
from clusters.nodes.occupancy import occupancies
from engines.preparation import Preparation
from spec.formats.stored import as_mapping
from spec.phases import ENDED, HOLDING_RESOURCES, NEEDS_ATTENTION, STARTED, WAITING, Phase
from workloads.home.needs import failure_in_words
from workloads.home.scope import HomeScope
from workloads.models import CausePeriod, SampleKind, Workload
from workloads.table.columns import format_metrics

LATELY = timedelta(days=1)
MOST_ROWS = 8  # of each panel; the table has the others
SAMPLES_FOR_SPEED = 20
#: The columns that rows show. Sorting whole rows, with their specs, takes much longer.
COLUMNS = (
    *("name", "phase", "reason", "message", "phase_updated_at", "queued_at", "started_at"),
    *("run", "attempt", "running_seconds", "time_limit_seconds", "gpus", "last_metrics", "curves"),
)
#: Names under which trainings report the last step, next to ``step``.
TOTALS = ("total_steps", "max_steps")


@dataclass(frozen=True)
class Counts:
    """Numbers of workloads in scope, and of GPUs."""

    running: int
    running_gpus: float
    waiting: int
    oldest_wait: datetime | None
    failed: int
    usual_failure: str
    free_gpus: float
    total_gpus: int


@dataclass(frozen=True)
class RunningRow:
    """A running workload. ``progress`` is the share (0 to 1) of its steps, and ``seconds_left`` an
    estimate; both are ``None`` if it does not report the number of its steps."""

    workload: Workload
    step: int | None
    total: int | None
    loss: str
    loss_points: Sequence[Sequence[float]]
    seconds_left: float | None

    @property
    def progress(self) -> float | None:
        if self.step is None or not self.total:
            return None
        return min(self.step / self.total, 1.0)

    @property
    def time_limit(self) -> int | None:
        return self.workload.time_limit_seconds


@dataclass(frozen=True)
class SilentCluster:
    """A cluster that does not answer, and how many workloads have their last known state."""

    cluster: Cluster
    workloads: int


def count_workloads(scope: HomeScope) -> Counts:
    """Return what runs, waits, failed within a day, and how many GPUs are free. Clusters that do
    not answer have no free GPUs that anybody knows of."""
    since = timezone.now() - LATELY
    running = Q(phase__in=STARTED)
    failed = Q(phase=Phase.FAILED, completed_at__gte=since)
    # An index answers this, and would not answer the conditions joined by OR.
    sums = scope.workloads().filter(phase__in=STARTED | WAITING | NEEDS_ATTENTION)
    totals = sums.aggregate(
        running=Count("pk", filter=running),
        running_gpus=Sum("gpus", filter=running),
        waiting=Count("pk", filter=Q(phase__in=WAITING)),
        oldest_wait=Min("queued_at", filter=Q(phase__in=WAITING)),
        failed=Count("pk", filter=failed),
    )
    answering = [it for it in scope.clusters if it.state != State.DISCONNECTED]
    rooms = occupancies(answering).values()
    return Counts(
        running=totals["running"],
        running_gpus=totals["running_gpus"] or 0.0,
        waiting=totals["waiting"],
        oldest_wait=totals["oldest_wait"],
        failed=totals["failed"],
        usual_failure=_usual_failure(scope, since) if totals["failed"] else "",
        free_gpus=sum(max(room.gpus - room.used_gpus, 0.0) for room in rooms),
        total_gpus=sum(room.gpus for room in rooms),
    )


def _usual_failure(scope: HomeScope, since: datetime) -> str:
    """Return in words how most workloads failed since then; empty if all failed differently."""
    rows = scope.workloads().filter(phase=Phase.FAILED, completed_at__gte=since)
    failures = Counter(map(failure_in_words, rows.only("failure_class", "reason")))
    ((what, number),) = failures.most_common(1) or [("", 0)]
    return what if number > 1 or len(failures) == 1 else ""


def running_rows(scope: HomeScope) -> list[RunningRow]:
    """Return the workloads that have run longest."""
    rows = scope.workloads().filter(phase__in=STARTED).only(*COLUMNS)
    return [_running_row(workload) for workload in rows.order_by("started_at")[:MOST_ROWS]]


def _running_row(workload: Workload) -> RunningRow:
    metrics = as_mapping(workload.last_metrics)
    step = _whole_number(metrics.get("step"))
    total = next(filter(None, (_whole_number(metrics.get(name)) for name in TOTALS)), None)
    return RunningRow(
        workload=workload,
        step=step,
        total=total,
        loss=dict(format_metrics(workload, ("loss",))).get("loss", ""),
        loss_points=workload.curves.get("loss", ()),
        seconds_left=_seconds_left(workload, step, total),
    )


def _whole_number(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) else None


def _seconds_left(workload: Workload, step: int | None, total: int | None) -> float | None:
    """Estimate the time to the last step by the speed of the last samples; ``None`` if the last
    step is unknown, or the samples do not tell a speed."""
    if step is None or total is None:
        return None
    samples = workload.samples.filter(
        kind=SampleKind.TRAINING, run=workload.run, attempt=workload.attempt
    )
    newest = list(samples.order_by("-at").values_list("at", "step")[:SAMPLES_FOR_SPEED])
    if len(newest) < 2:
        return None
    last_at, last_step = newest[0]
    first_at, first_step = newest[-1]
    seconds = (last_at - first_at).total_seconds()
    steps = (last_step or 0) - (first_step or 0)
    return max(total - step, 0) * seconds / steps if steps > 0 and seconds > 0 else None


def waiting_rows(scope: HomeScope) -> list[tuple[Workload, str]]:
    """Return the workloads that have waited longest, each with what it waits for."""
    waiting = scope.workloads().filter(phase__in=WAITING).only(*COLUMNS)
    rows = list(waiting.order_by("queued_at")[:MOST_ROWS])
    causes = CausePeriod.objects.filter(until=None, workload__in=rows)
    titles = dict(causes.values_list("workload", "title"))
    return [(workload, titles.get(workload.pk) or workload.message) for workload in rows]


def ended_rows(scope: HomeScope) -> list[tuple[Workload, str]]:
    """Return the workloads that have ended within a day, the last one first, each with its last
    loss."""
    since = timezone.now() - LATELY
    rows = scope.workloads().filter(phase__in=ENDED, phase_updated_at__gte=since)
    rows = rows.only(*COLUMNS)
    return [
        (workload, dict(format_metrics(workload, ("loss",))).get("loss", ""))
        for workload in rows.order_by("-phase_updated_at")[:MOST_ROWS]
    ]


def unfinished_preparations(scope: HomeScope) -> list[tuple[Cluster, Preparation]]:
    """Return the clusters on which workloads wait for something that Trainyard prepares there."""
    prepared = [(it, it.definition.preparation(it)) for it in scope.clusters]
    return [(cluster, it) for cluster, it in prepared if it and not it.is_ready]


def silent_clusters(scope: HomeScope) -> list[SilentCluster]:
    """Return the clusters that do not answer, with the workloads in scope that they hold."""
    silent = [cluster for cluster in scope.clusters if cluster.outage]
    if not silent:
        return []
    rows = scope.workloads().filter(cluster__in=silent, phase__in=HOLDING_RESOURCES | WAITING)
    counted = rows.values("cluster").annotate(number=Count("pk"))
    numbers = dict(counted.values_list("cluster", "number"))
    return [SilentCluster(cluster, numbers.get(cluster.pk, 0)) for cluster in silent]
