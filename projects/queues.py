"""The queues of a cluster that holds projects to their quotas itself, as the quotas say."""

import logging
from collections import defaultdict
from collections.abc import Iterable
from functools import partial

from clusters.engines import engine_for
from clusters.models import Cluster
from core.outbox import SUBMIT, send
from engines.base import EngineError
from engines.queues import Queue
from projects.models import Project

log = logging.getLogger(__name__)


def ask(cluster: Cluster) -> None:
    """After the commit. What comes of it, and of a request that is lost, the monitor sees within a
    minute."""
    if cluster.capabilities.quotas:
        send("projects.keep_queues", cluster.pk, SUBMIT)


def keep(cluster: Cluster) -> None:
    try:
        engine_for(cluster).keep_queues(partial(wanted, cluster))
    except EngineError as error:
        log.warning("The queues of %s: %s", cluster, error)


def wanted(cluster: Cluster) -> list[Queue]:
    """One for each project, and one for each department that has any."""
    departments: dict[str, list[Queue]] = defaultdict(list)
    for project in Project.objects.filter(cluster=cluster).select_related("department"):
        departments[project.department.name].append(_queue(project))
    return [
        *(_department(name, queues) for name, queues in departments.items()),
        *(queue for queues in departments.values() for queue in queues),
    ]


def _queue(project: Project) -> Queue:
    return Queue(
        name=project.name,
        department=project.department.name,
        gpus=project.gpu_quota,
        cpu=project.cpu_quota,
        memory=project.memory_quota,
        weight=int(project.over_quota),
    )


def _department(name: str, queues: list[Queue]) -> Queue:
    """All that its projects deserve. What others leave over is shared by their number, so that a
    project gets the same in a large department and in a small one."""
    memory = _sum(queue.memory for queue in queues)
    return Queue(
        name=name,
        department="",
        gpus=round(sum(queue.gpus for queue in queues), 4),
        cpu=_sum(queue.cpu for queue in queues),
        memory=None if memory is None else int(memory),
        weight=sum(queue.weight for queue in queues),
    )


def _sum(quotas: Iterable[float | None]) -> float | None:
    """Without a bound where one of them has none."""
    total = 0.0
    for quota in quotas:
        if quota is None:
            return None
        total += quota
    return round(total, 4)
