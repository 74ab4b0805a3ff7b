"""Load a cluster's rows for the order of starts: who waits, who is in place, who is entitled to
what."""

from dataclasses import replace

from clusters.models import Cluster
from projects.models import Project
from projects.quotas import Demand, quota_of, quota_of_department
from spec.parts.scheduling import Preemptibility, PriorityClass
from spec.phases import STARTED, Phase
from spec.problems.errors import SpecError
from spec.workload import WorkloadSpec
from workloads.models import Workload
from workloads.scheduling.order.records import Allowance, Contender, Tenant
from workloads.scheduling.placement import Shape


def contender(workload: Workload, spec: WorkloadSpec, device_memory: int) -> Contender:
    return Contender(
        key=str(workload.pk),
        name=workload.name,
        project=_project_key(workload.project_id),
        department=_department_key(workload.project.department_id),
        shape=Shape.of(spec, device_memory),
        demand=Demand.from_spec(spec, gpu_memory=device_memory),
        since=workload.queued_at.timestamp(),
        rank=PriorityClass(workload.project.rank).level,
        preemptible=spec.preemptibility is not Preemptibility.NON_PREEMPTIBLE,
        grace=spec.termination_grace_period_seconds,
        time_limit=_remaining_seconds(workload, spec),
        ends=spec.kind.traits.completes or spec.time_limit_seconds is not None,
    )


def tenant(workload: Workload, device_memory: int) -> Tenant:
    """What has its place; told to end it has ended when its grace period is over."""
    placement = {rank.rank: tuple(rank.gpu_devices) for rank in workload.ranks.all()}
    try:
        gang = contender(workload, workload.spec, device_memory)
        gang = replace(gang, demand=_stored_demand(workload))
    except SpecError:
        gang = _contender_of_unreadable(workload)
    since = workload.phase_updated_at.timestamp()
    leaves_by = None if workload.phase in {*STARTED, Phase.UNKNOWN} else since + gang.grace
    return Tenant(gang, placement, since, leaves_by)


def allowances(cluster: Cluster) -> dict[str, Allowance]:
    """Of each project, and of each department that has any of its own or is never passed."""
    rows = Project.objects.filter(cluster=cluster).select_related("department")
    projects = list(rows.order_by())
    found = {
        _project_key(project.pk): Allowance(
            project.name, quota_of(project), strict=not project.over_quota
        )
        for project in projects
    }
    for department in {project.department for project in projects}:
        if department.has_quota or not department.over_quota:
            members = [it for it in projects if it.department_id == department.pk]
            quota = quota_of_department(department, members)
            found[_department_key(department.pk)] = Allowance(
                f"the department {department}", quota, strict=not department.over_quota
            )
    return found


def _contender_of_unreadable(workload: Workload) -> Contender:
    """What it was counted for when it was submitted; of the devices it was given all. Nobody knows
    whether it may be taken back, so it stays."""
    ranks = ((rank.rank, len(rank.gpu_devices), 1.0) for rank in workload.ranks.all())
    return Contender(
        key=str(workload.pk),
        name=workload.name,
        project=_project_key(workload.project_id),
        department=_department_key(workload.project.department_id),
        shape=Shape(workload.cpu_cores, workload.memory_bytes, tuple(ranks)),
        demand=_stored_demand(workload),
        since=workload.queued_at.timestamp(),
        preemptible=False,
    )


def _remaining_seconds(workload: Workload, spec: WorkloadSpec) -> float | None:
    """Of its time limit, from the start of the phase that it is in."""
    limit = spec.time_limit_seconds
    return None if limit is None else max(limit - workload.running_seconds, 0.0)


def _stored_demand(workload: Workload) -> Demand:
    """As its quota counts it."""
    return Demand(workload.gpus, workload.cpu_cores, workload.memory_bytes)


def _project_key(pk: int) -> str:
    return f"project:{pk}"


def _department_key(pk: int) -> str:
    return f"department:{pk}"
