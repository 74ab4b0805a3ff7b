"""Check whether the quotas of a project and its department have room for another workload, and in
which node pool it counts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from clusters.models import Cluster, NodePool
from projects.models import Department, Project
from projects.pool_quotas import department_row, project_row
from projects.quotas import (
    Demand,
    StrictQuota,
    is_strict,
    owner_in_pool,
    quota_of,
    strict_quotas_of,
    usage_of,
)
from spec.parts.scheduling import DEFAULT_POOL
from spec.phases import ACTIVE, HOLDING_RESOURCES

Pools = Sequence[str]  # the node pools that a workload names, the preferred one first


@dataclass(frozen=True)
class QuotaChoice:
    """The node pool in whose quota a workload counts until it runs, and why that quota has no room
    for it; empty if it has."""

    pool: str
    refusal: str = ""


def limiting_accounts(project: Project, pool: str) -> list[StrictQuota]:
    """The accounts that limit the project in a node pool, with their current usage."""
    phases = ACTIVE if starts_at_once(project.cluster) else HOLDING_RESOURCES
    usage = usage_of([project], phases)[project.pk].in_pool(pool)
    owner = owner_in_pool(project, pool)
    own = StrictQuota("project", owner, quota_of(project, pool), usage)
    strict = strict_quotas_of([project], phases, pool)[project.pk]
    return [own, *(account for account in strict if account.kind != own.kind)]


def starts_at_once(cluster: Cluster) -> bool:
    """Whether submitted workloads start at once, so that each counts against the quota."""
    return cluster.capabilities.queues and not cluster.capabilities.quotas


def candidate_pools(cluster: Cluster, pools: Pools) -> Iterator[str]:
    """Yield the node pools in whose quota a workload can count, the first one first.

    Queues that enforce quotas belong to one node pool each, so there it is the first that the
    workload names. A workload that names none can use every node, so it can count in any pool.
    """
    yield pools[0] if pools else DEFAULT_POOL
    if starts_at_once(cluster):
        yield from pools[1:] if pools else cluster.pools.values_list("name", flat=True)


def choose_pool(
    project: Project, demand: Demand, pools: Pools, also: Mapping[str, Demand] | None = None
) -> QuotaChoice:
    """Choose the first node pool whose quota has room for the workload, else the first one.
    ``also`` is demand by pool that is submitted with it."""
    refused: list[QuotaChoice] = []
    for pool in candidate_pools(project.cluster, pools):
        earlier = (also or {}).get(pool, Demand())
        choice = QuotaChoice(pool, explain_excess(project, demand + earlier, pool))
        if not choice.refusal:
            return choice
        refused.append(choice)
    return refused[0]


def find_pools(project: Project, pools: Sequence[str]) -> dict[str, NodePool]:
    """Return the rows of node pools by name. The default pool has none."""
    names = {*pools} - {DEFAULT_POOL}
    rows = project.cluster.pools.filter(name__in=names) if names else ()
    return {pool.name: pool for pool in rows}


def explain_excess(project: Project, demand: Demand, pool: str) -> str:
    """Why the project may not request this in addition in a node pool; empty if it may.

    Where there is a queue, in Trainyard or on the cluster, a workload waits for its quota. A
    cluster that queues but knows no quotas starts everything as soon as it can, so workloads that
    have not started count as well.
    """
    at_once = starts_at_once(project.cluster)
    for account in strict_quotas_of([project], ACTIVE if at_once else (), pool)[project.pk]:
        if over := account.excess(demand):
            asks = f"asks, with the {account.kind}'s other workloads," if at_once else "asks"
            return f"{asks} for {over} and {account.owner_text} may not go over it"
    return ""


def lock_and_choose_pool(
    project: Project, demand: Demand, pools: Pools, also: Mapping[str, Demand] | None = None
) -> QuotaChoice:
    """Call :func:`choose_pool` for a submission, in its transaction.

    If workloads start at once, others are locked out until the transaction ends, so that two do not
    both take the rest of a quota. SQLite does that for every writer anyway.
    """
    if starts_at_once(project.cluster) and _may_be_refused(project, pools):
        project = _lock_project(project)
    return choose_pool(project, demand, pools, also)


def _may_be_refused(project: Project, pools: Pools) -> bool:
    return any(
        is_strict(project_row(project, pool)) or is_strict(department_row(project.department, pool))
        for pool in candidate_pools(project.cluster, pools)
    )


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
    locked.department = departments.get(pk=locked.department_id)
    return locked
