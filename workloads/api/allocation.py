"""REST: what projects, departments and clusters held over time, computed from the events of their
workloads."""

from uuid import UUID

from django.db.models import Q
from ninja import Query, Router

from accounts import access
from accounts.api.tokens import ApiRequest
from clusters.api.clusters import find_cluster
from core.rest.api import not_found, translate_errors
from core.rest.measures import Measurements, MeasureQuery, measurement
from projects.models import Department, Project
from workloads.history.held import holding_periods

router = Router(tags=["Projects"], by_alias=True)

CORE = 1000
MEGABYTE = 1000**2
#: The column of a workload and the factor to multiply it by, for each of Run:ai's metrics.
ORGANIZATION_MEASURES = {
    "GPU_ALLOCATION": ("gpus", 1.0),
    "CPU_ALLOCATION_MILLICORES": ("cpu_cores", float(CORE)),
    "CPU_MEMORY_ALLOCATION_MB": ("memory_bytes", 1 / MEGABYTE),
}
CLUSTER_MEASURES = {"ALLOCATED_GPU": ("gpus", 1.0)}
Measures = dict[str, tuple[str, float]]


@router.get(
    "/org-unit/projects/{int:project_id}/metrics",
    response=Measurements,
    operation_id="read_project_metrics",
)
def project_metrics(
    request: ApiRequest, project_id: int, query: Query[MeasureQuery]
) -> Measurements:
    """What the project's workloads held, at evenly spaced times. 501 for metrics that are not
    recorded."""
    project = Project.objects.visible_to(request.user).filter(pk=project_id).first()
    if project is None:
        raise not_found("The project")
    return _measure_allocation(query, Q(project=project), ORGANIZATION_MEASURES)


@router.get(
    "/org-unit/departments/{int:department_id}/metrics",
    response=Measurements,
    operation_id="read_department_metrics",
)
def department_metrics(
    request: ApiRequest, department_id: int, query: Query[MeasureQuery]
) -> Measurements:
    """What the workloads of all the department's projects held, at evenly spaced times. 501 for
    metrics that are not recorded."""
    with translate_errors("The department cannot be read."):
        access.require_anywhere(request.user, "departments.read")
    department = Department.objects.visible_to(request.user).filter(pk=department_id).first()
    if department is None:
        raise not_found("The department")
    return _measure_allocation(query, Q(project__department=department), ORGANIZATION_MEASURES)


@router.get(
    "/clusters/{uuid:cluster_id}/metrics",
    response=Measurements,
    operation_id="read_cluster_metrics",
)
def cluster_metrics(
    request: ApiRequest, cluster_id: UUID, query: Query[MeasureQuery]
) -> Measurements:
    """What the cluster's workloads held, at evenly spaced times. 501 for metrics that are not
    recorded."""
    cluster = find_cluster(request, cluster_id)
    return _measure_allocation(query, Q(cluster=cluster), CLUSTER_MEASURES)


def _measure_allocation(query: MeasureQuery, condition: Q, measures: Measures) -> Measurements:
    query.check(measures)
    moments = query.moments()
    columns = dict.fromkeys(measures[name][0] for name in query.metric_type)
    sums = {name: [0.0] * len(moments) for name in columns}
    periods = holding_periods(condition, list(columns), start=query.start, end=query.end)
    for period in periods:
        for index in period.indexes(moments):
            for name, amount in period.columns.items():
                sums[name][index] += amount
    series = []
    for name in query.metric_type:
        column, factor = measures[name]
        values = (round(it * factor, 4) for it in sums[column])
        series.append(measurement(name, dict(zip(moments, values, strict=True))))
    return Measurements(measurements=series)
