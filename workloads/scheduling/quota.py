"""Check whether the quotas of a project and its department have room for another workload."""

from clusters.models import Cluster
from projects.models import Department, Project
from projects.quotas import Demand, StrictQuota, quota_of, strict_quotas_of, usage_of
from spec.phases import ACTIVE, HOLDING_RESOURCES


def limiting_accounts(project: Project) -> list[StrictQuota]:
    """The accounts that limit the project, with their current usage."""
    phases = ACTIVE if starts_at_once(project.cluster) else HOLDING_RESOURCES
    usage = usage_of([project], phases)[project.pk].demand
    own = StrictQuota("project", project.name, quota_of(project), usage)
    strict = strict_quotas_of([project], phases)[project.pk]
    return [own, *(account for account in strict if account.kind != own.kind)]


def starts_at_once(cluster: Cluster) -> bool:
    """Whether submitted workloads start at once, so that each counts against the quota."""
    return cluster.capabilities.queues and not cluster.capabilities.quotas


def explain_excess(project: Project, demand: Demand) -> str:
    """Why the project may not request this in addition; empty if it may.

    Where there is a queue, in Trainyard or on the cluster, a workload waits for its quota. A
    cluster that queues but knows no quotas starts everything as soon as it can, so workloads that
    have not started count as well.
    """
    at_once = starts_at_once(project.cluster)
    for account in strict_quotas_of([project], ACTIVE if at_once else ())[project.pk]:
        if over := account.excess(demand):
            asks = f"asks, with the {account.kind}'s other workloads," if at_once else "asks"
            return f"{asks} for {over} and {account.owner_text} may not go over it"
    return ""


def lock_and_check_quota(project: Project, demand: Demand) -> str:
    """Call :func:`explain_excess` for a submission, in its transaction.

    If workloads start at once, others are locked out until the transaction ends, so that two do not
    both take the rest of a quota. SQLite does that for every writer anyway.
    """
    strict = not (project.over_quota and project.department.over_quota)
    if strict and starts_at_once(project.cluster):
        project = _lock_project(project)
    return explain_excess(project, demand)


def _lock_project(project: Project) -> Project:
    """Lock and reload the project and its department.

    Always in this order, to avoid deadlocks; a locked project cannot change its department. Keys
    are not locked, so that rows that refer to the project need not wait.
    """
    rows = Project.objects.select_for_update(of=("self",), no_key=True)
    locked = rows.select_related("cluster", "department").filter(pk=project.pk).first()
    if locked is None:
        return project  # its workload cannot be created either
    departments = Department.objects.select_for_update(no_key=True)
    if strict := departments.filter(pk=locked.department_id, over_quota=False).first():
        locked.department = strict
    return locked
