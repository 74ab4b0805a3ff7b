"""REST: what workloads use and hold, now and over time, with Run:ai's names of metrics."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from statistics import fmean
from typing import Any
from uuid import UUID

from django.db.models import Aggregate, Count, QuerySet, Sum
from ninja import Field, Query, Router

from accounts.api.tokens import ApiRequest
from core.rest.api import Parameters, not_found
from core.rest.measures import (
    Key,
    Measurements,
    MeasureQuery,
    MetricSeries,
    Names,
    Telemetry,
    check_groups,
    measurement,
    refuse_unmeasured,
    sum_telemetry,
)
from spec.kind import WorkloadKind
from spec.phases import Phase
from workloads.api.lookup import find_workload
from workloads.models import Sample, SampleKind, Workload

router = Router(tags=["Workloads"])

#: The key in samples, for each of Run:ai's metrics.
USAGE_KEYS = {
    "CPU_USAGE_CORES": "cpu",
    "CPU_MEMORY_USAGE_BYTES": "memory",
    "GPU_UTILIZATION": "gpu",
    "GPU_MEMORY_USAGE_BYTES": "gpu_memory",
}
AVERAGED = {"GPU_UTILIZATION"}  # averaged over ranks, where other metrics are summed
REQUEST_COLUMNS = {"CPU_REQUEST_CORES": "cpu_cores", "CPU_MEMORY_REQUEST_BYTES": "memory_bytes"}
COUNTED = ("WORKLOADS_COUNT", "GPU_ALLOCATION")
#: The columns with the value and the name of a group, for each of Run:ai's groupings.
GROUPS = {
    "ClusterId": ("cluster_id", "cluster__name"),
    "DepartmentId": ("project__department_id", "project__department__name"),
    "ProjectId": ("project_id", "project__name"),
    "Phase": ("phase", "phase"),
    "Type": ("kind", "kind"),
}


@router.get(
    "/{uuid:workload_id}/metrics",
    response=Measurements,
    by_alias=True,
    operation_id="read_workload_metrics",
)
def workload_metrics(
    request: ApiRequest, workload_id: UUID, query: Query[MeasureQuery]
) -> Measurements:
    """What the workload used between two times, all ranks together. 501 for metrics that are not
    measured. Times without samples have no values."""
    query.check({*USAGE_KEYS, *REQUEST_COLUMNS})
    workload = find_workload(request, workload_id)
    samples = workload.samples.all()
    return Measurements(
        measurements=[
            _request_series(query, workload, name)
            if name in REQUEST_COLUMNS
            else _usage_series(query, samples, name)
            for name in query.metric_type
        ]
    )


@router.get(
    "/{uuid:workload_id}/pods/{pod_id}/metrics",
    response=Measurements,
    by_alias=True,
    operation_id="read_pod_metrics",
)
def pod_metrics(
    request: ApiRequest, workload_id: UUID, pod_id: str, query: Query[MeasureQuery]
) -> Measurements:
    """What one pod used between two times. 501 for metrics that are not measured. Times without
    samples have no values."""
    query.check(USAGE_KEYS)
    workload = find_workload(request, workload_id)
    rank = next((it for it in workload.ranks.all() if str(it.pk) == pod_id), None)
    if rank is None:
        raise not_found("The pod")
    samples = workload.samples.filter(rank=rank.rank)
    return Measurements(
        measurements=[_usage_series(query, samples, name) for name in query.metric_type]
    )


class WorkloadTelemetryQuery(Parameters):
    telemetry_type: str = Field(description="WORKLOADS_COUNT or GPU_ALLOCATION")
    cluster_id: UUID | None = Field(default=None, description="Only those of this cluster")
    department_id: int | None = Field(default=None, description="Only workloads of this department")
    group_by: Names = Field(default=[], description=f"At most two of {', '.join(GROUPS)}")
    filter_by_phases: list[Phase] = Field(
        default=[], max_length=20, description="Only workloads in these phases"
    )


@router.get(
    "/telemetry",
    response=Telemetry,
    by_alias=True,
    operation_id="read_workloads_telemetry",
)
def workloads_telemetry(request: ApiRequest, query: Query[WorkloadTelemetryQuery]) -> Telemetry:
    """The number of workloads that you can see, or of GPUs that they hold, by group."""
    refuse_unmeasured([query.telemetry_type], COUNTED)
    check_groups(query.group_by, GROUPS)
    rows = Workload.objects.visible_to(request.user).order_by()
    if query.cluster_id:
        rows = rows.filter(cluster=query.cluster_id)
    if query.department_id is not None:
        rows = rows.filter(project__department=query.department_id)
    if query.filter_by_phases:
        rows = rows.filter(phase__in=query.filter_by_phases)
    number: Aggregate = Count("pk")
    if query.telemetry_type == "GPU_ALLOCATION":
        rows = rows.holding()
        number = Sum("gpus")
    columns = [GROUPS[word] for word in query.group_by]
    group_columns = dict.fromkeys(name for pair in columns for name in pair)
    sums = list(rows.values(*group_columns).annotate(number=number)) if group_columns else []
    if not group_columns:
        return sum_telemetry(query.telemetry_type, [((), rows.aggregate(it=number)["it"] or 0.0)])
    return sum_telemetry(
        query.telemetry_type, ((_group_keys(query.group_by, it), it["number"]) for it in sums)
    )


def _group_keys(groups: Iterable[str], row: dict[str, Any]) -> list[Key]:
    """Return the group of a row. A name is empty if it would only repeat the value."""
    keys = []
    for word in groups:
        column, name_column = GROUPS[word]
        value = str(row[column])
        if word == "Type":
            value = WorkloadKind(value).traits.type
        keys.append((word, value, str(row[name_column]) if name_column != column else ""))
    return keys


def _usage_series(query: MeasureQuery, samples: QuerySet[Sample], name: str) -> MetricSeries:
    """Return what the ranks used in the interval before each time, where there are samples."""
    rows = samples.filter(kind=SampleKind.USAGE, at__gte=query.start, at__lt=query.end)
    parts: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for rank, at, values in rows.order_by().values_list("rank", "at", "values"):
        if (value := values.get(USAGE_KEYS[name])) is not None:
            parts[query.sample_index(at)][rank].append(float(value))
    moments = query.moments()
    points = dict[datetime, float]()
    for part, ranks in parts.items():
        means = [fmean(numbers) for numbers in ranks.values()]
        points[moments[part]] = fmean(means) if name in AVERAGED else sum(means)
    return measurement(name, points)


def _request_series(query: MeasureQuery, workload: Workload, name: str) -> MetricSeries:
    """Return what the workload requests, at each time from its creation to its completion."""
    amount = float(getattr(workload, REQUEST_COLUMNS[name]))
    ended = workload.completed_at
    moments = [
        it for it in query.moments() if workload.created_at <= it and not (ended and it > ended)
    ]
    return measurement(name, dict.fromkeys(moments, amount))
