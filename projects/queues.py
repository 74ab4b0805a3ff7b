"""The queues of clusters whose scheduler enforces the projects' quotas."""

import logging
from collections import defaultdict
from functools import partial

from clusters.connections import engine_for
from clusters.models import Cluster
from core.broker.enqueue import SUBMIT, send
from engines.base import EngineError
from engines.queues import Queue
from projects.models import Department, Project
from projects.quotas import Quota, quota_of, quota_of_department

log = logging.getLogger(__name__)


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
    """Return the queues that a cluster should have: one for each project, and one for each
    department with projects."""
    departments: dict[Department, list[Project]] = defaultdict(list)
    for project in Project.objects.filter(cluster=cluster).select_related("department"):
        departments[project.department].append(project)
    return [
        *(_department_queue(department, projects) for department, projects in departments.items()),
        *(_project_queue(project) for projects in departments.values() for project in projects),
    ]


def _project_queue(project: Project) -> Queue:
    quota = quota_of(project)
    department = project.department.name
    return _build_queue(project.name, department, quota, weight=int(project.over_quota))


def _department_queue(department: Department, projects: list[Project]) -> Queue:
    """Return the queue of a department. Its weight is the number of projects that may exceed their
    quota, so that a project's share of idle resources does not depend on its department's size."""
    weight = 0
    if department.over_quota:
        # The department's own quota may be less than its projects' together.
        minimum = int(department.has_quota)
        weight = max(sum(project.over_quota for project in projects), minimum)
    return _build_queue(department.name, "", quota_of_department(department, projects), weight)


def _build_queue(name: str, department: str, quota: Quota, weight: int) -> Queue:
    return Queue(
        name=name,
        department=department,
        gpus=quota.gpus,
        cpu=quota.cpu,
        memory=quota.memory,
        weight=weight,
    )
