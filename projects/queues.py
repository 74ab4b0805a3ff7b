"""The queues of clusters whose scheduler enforces the projects' quotas."""

import logging
from collections import defaultdict
from collections.abc import Iterable
from functools import partial

from clusters.connections import engine_for
from clusters.models import Cluster
from core.broker.enqueue import SUBMIT, send
from engines.base import EngineError
from engines.queues import Queue
from projects.models import Department, Project
from projects.pool_quotas import (
    DepartmentQuotaColumns,
    ProjectQuotaColumns,
    department_row,
    pool_names,
    project_row,
)
from projects.quotas import quota_of_department
from spec.parts.scheduling import PriorityClass

log = logging.getLogger(__name__)
DEFAULT_PRIORITY = 100  # of KAI's queues
PRIORITY_STEP = 10


def request_update(cluster: Cluster) -> None:
    """Request an update of the cluster's queues after the commit. The monitor checks them every
    minute, so a lost request is harmless."""
    if cluster.capabilities.quotas:
        send("projects.keep_queues", cluster.pk, SUBMIT)


def update_queues(cluster: Cluster) -> None:
    try:
        engine_for(cluster).keep_queues(partial(wanted_queues, cluster))
    except EngineError as error:
        log.warning("The queues of %s: %s", cluster, error)


def wanted_queues(cluster: Cluster) -> list[Queue]:
    """Return the queues that a cluster should have: in each node pool one for each project, and one
    for each department with projects."""
    pools = pool_names(cluster)
    rows = Project.objects.filter(cluster=cluster).select_related("department")
    if len(pools) > 1:
        rows = rows.prefetch_related("pool_quotas", "department__pool_quotas")
    departments: dict[Department, list[Project]] = defaultdict(list)
    for project in rows:
        departments[project.department].append(project)
    return [
        queue
        for pool in pools
        for queue in (
            *(_department_queue(it, projects, pool) for it, projects in departments.items()),
            *(_project_queue(it, pool) for projects in departments.values() for it in projects),
        )
    ]


def _project_queue(project: Project, pool: str) -> Queue:
    row = project_row(project, pool)
    return Queue(
        name=project.name,
        department=project.department.name,
        gpus=row.gpu_quota,
        cpu=row.cpu_quota,
        memory=row.memory_quota,
        weight=row.over_quota_weight if row.over_quota else 0,
        gpu_limit=row.gpu_limit,
        priority=_priority(PriorityClass(row.rank)),
        pool=pool,
    )


def _department_queue(department: Department, projects: list[Project], pool: str) -> Queue:
    row = department_row(department, pool)
    quota = quota_of_department(department, projects, pool)
    return Queue(
        name=department.name,
        department="",
        gpus=quota.gpus or 0.0,
        cpu=quota.cpu,
        memory=quota.memory,
        weight=_department_weight(row, [project_row(it, pool) for it in projects]),
        gpu_limit=row.gpu_limit,
        pool=pool,
    )


def _department_weight(
    row: DepartmentQuotaColumns, projects: Iterable[ProjectQuotaColumns]
) -> float:
    """Return the weight of a department. Without one of its own it is the sum of those projects'
    that may exceed their quota, so that a project's share of idle resources does not depend on its
    department's size."""
    if not row.over_quota:
        return 0
    if row.over_quota_weight is not None:
        return row.over_quota_weight
    # The department's own quota may be less than its projects' together.
    minimum = int(row.has_quota)
    return max(sum(it.over_quota_weight for it in projects if it.over_quota), minimum)


def _priority(rank: PriorityClass) -> int:
    """Return the priority of a queue. KAI's own default is that of the default rank."""
    return DEFAULT_PRIORITY + (rank.level - PriorityClass.MEDIUM_LOW.level) * PRIORITY_STEP
