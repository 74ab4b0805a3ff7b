"""Whether a project's quota, and its department's, have room for one workload more."""

from clusters.models import Cluster
from projects.models import Department, Project
from projects.quotas import Account, Demand, accounts_of, quota_of, usage_of
from spec.phases import ACTIVE, HOLDING


def bounds_of(project: Project) -> list[Account]:
    """What the project's workloads are counted against, with what counts now."""
    phases = ACTIVE if starts_at_once(project.cluster) else HOLDING
    held = usage_of([project], phases)[project.pk].held
    own = Account("project", project.name, quota_of(project), held)
    strict = accounts_of([project], phases)[project.pk]
    return [own, *(account for account in strict if account.kind != own.kind)]


def starts_at_once(cluster: Cluster) -> bool:
    """Whether all that is given counts against a quota, for nothing else keeps it back."""
    return cluster.capabilities.queues and not cluster.capabilities.quotas


def beyond_quota(project: Project, demand: Demand) -> str:
    """Why the project may not ask for this too; empty where it may.

    A workload waits for its quota here, or in the queue that the cluster has for the project. A
    cluster that queues and knows no quotas starts all that it is given as soon as it can, so what
    it has not started counts as well.
    """
    at_once = starts_at_once(project.cluster)
    for account in accounts_of([project], ACTIVE if at_once else ())[project.pk]:
        if over := account.excess(demand):
            asks = f"asks, with the {account.kind}'s other workloads," if at_once else "asks"
            return f"{asks} for {over} and {account.whose} may not go over it"
    return ""


def hold_quota(project: Project, demand: Demand) -> str:
    """``beyond_quota`` for whoever takes it now, in a transaction.

    Where what is given starts at once, nobody else is answered until that transaction ends, so that
    two do not both take what is left for one. On SQLite a transaction that writes has that anyhow.
    """
    strict = not (project.over_quota and project.department.over_quota)
    if strict and starts_at_once(project.cluster):
        project = _held(project)
    return beyond_quota(project, demand)


def _held(project: Project) -> Project:
    """The project and its department as they are, and nobody else's until the transaction ends.

    Always in this order, so that no two wait for each other; a project that is held stays in its
    department. Not the keys: workloads that only refer to a project need not wait.
    """
    rows = Project.objects.select_for_update(of=("self",), no_key=True)
    held = rows.select_related("cluster", "department").filter(pk=project.pk).first()
    if held is None:
        return project  # its workload cannot be made either
    departments = Department.objects.select_for_update(no_key=True)
    if strict := departments.filter(pk=held.department_id, over_quota=False).first():
        held.department = strict
    return held
