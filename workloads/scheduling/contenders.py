"""Convert a cluster's rows into the input of ``order.decide``: gangs that wait, gangs in place, and
quotas."""

from dataclasses import replace

from clusters.models import Cluster
from projects.models import Project
from projects.quotas import (
    Demand,
    is_strict,
    limit_of,
    limit_of_department,
    quota_of,
    quota_of_department,
)
from spec.parts.scheduling import Preemptibility, PriorityClass
from spec.phases import STARTED, Phase
from spec.problems.errors import SpecError
from spec.workload import WorkloadSpec
from workloads.models import Workload
from workloads.scheduling.limits import rule_limits
from workloads.scheduling.order.records import Allowance, Contender, Tenant
from workloads.scheduling.placement import Shape


def contender(workload: Workload, spec: WorkloadSpec, device_memory: int) -> Contender:
    remaining = _remaining_seconds(workload, spec)
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
        time_limit=remaining,
        ends=spec.kind.traits.completes or remaining is not None,
    )


def tenant(workload: Workload, device_memory: int) -> Tenant:
    """Return a workload that occupies resources as a tenant. One that was asked to end leaves when
    its grace period is over."""
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
    """Return the quota of each project, and of each department that has a quota or limit of its own
    or never exceeds the sum of its projects' quotas.

    All of them are those of the default node pool: clusters without a queue of their own have no
    other.
    """
    rows = Project.objects.filter(cluster=cluster).select_related("department")
    projects = list(rows.order_by())
    found = {
        _project_key(project.pk): Allowance(project.name, quota_of(project), limit_of(project))
        for project in projects
    }
    for department in {project.department for project in projects}:
        if department.has_quota or is_strict(department):
            members = [it for it in projects if it.department_id == department.pk]
            quota = quota_of_department(department, members)
            found[_department_key(department.pk)] = Allowance(
                f"the department {department}", quota, limit_of_department(department, members)
            )
    return found


def _contender_of_unreadable(workload: Workload) -> Contender:
    """Return a contender for a workload whose spec cannot be read: with the demand stored at its
    submission, and all of the devices that it was given. It is never preempted, because its spec
    might not allow that."""
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
    """Return the seconds left at the start of the current phase until the time limit of the spec or
    of a scheduling rule; ``None`` without a limit."""
    limits = (spec.time_limit_seconds, rule_limits.longest_time_limit(workload))
    known = [limit for limit in limits if limit is not None]
    return max(min(known) - workload.running_seconds, 0.0) if known else None


def _stored_demand(workload: Workload) -> Demand:
    """Return the demand that counts against the quota."""
    return Demand(workload.gpus, workload.cpu_cores, workload.memory_bytes)


def _project_key(pk: int) -> str:
    return f"project:{pk}"


def _department_key(pk: int) -> str:
    return f"department:{pk}"
