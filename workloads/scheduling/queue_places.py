"""A workload's place in the queue, and who holds what it waits for. Workloads are named to those
who may see them; others are only counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Sum

from accounts.models import User
from clusters.models import Cluster
from spec.phases import WAITING
from workloads.models import Workload, WorkloadQuerySet
from workloads.scheduling import admission
from workloads.scheduling.placement import TINY

MAX_NAMED = 5
MAX_WAITING = 200  # waiting workloads; sorting more takes too long for a page


@dataclass(frozen=True)
class QueuePlace:
    """A place in the queue. ``ahead`` are the first workloads that may be named, ``more`` is the
    number of others of these, ``strangers`` the number of those that may not. ``project`` is set if
    it has a queue of its own; ``own_order``: Trainyard decides the order."""

    position: int
    length: int
    ahead: Sequence[Workload]
    strangers: int
    more: int
    project: str = ""
    own_order: bool = True


@dataclass(frozen=True)
class GpuHolders:
    """Who holds the cluster's ``total`` GPUs: workloads that may be named (the first of them, and
    ``more``), ``strangers``, and things outside Trainyard."""

    named: Sequence[Workload]
    strangers: int
    stranger_gpus: float
    more: int
    more_gpus: float
    outside: float
    total: int


def queue_place(workload: Workload, user: User) -> QueuePlace | None:
    """The place of a workload; ``None`` if unknown."""
    queue = (
        _queue_of_trainyard(workload.cluster)
        if _is_queued_by_trainyard(workload)
        else _queue_by_age(workload)
    )
    if workload.pk not in queue:
        return None
    ahead = queue[: queue.index(workload.pk)]
    visible = Workload.objects.visible_to(user).only("name").in_bulk(ahead)
    named = [visible[pk] for pk in ahead if pk in visible]
    quotas = workload.cluster.capabilities.quotas and not _is_queued_by_trainyard(workload)
    return QueuePlace(
        len(ahead) + 1,
        len(queue),
        named[:MAX_NAMED],
        len(ahead) - len(named),
        len(named[MAX_NAMED:]),
        workload.project.name if quotas else "",
        _is_queued_by_trainyard(workload),
    )


def gpu_holders(workload: Workload, user: User) -> GpuHolders | None:
    """The holders; ``None`` if the workload does not wait for GPUs."""
    if not workload.gpus:
        return None
    cluster = workload.cluster
    rows = Workload.objects.occupying().filter(cluster=cluster, gpus__gt=0).exclude(pk=workload.pk)
    visible = rows.visible_to(user)
    largest = visible.only("name", "gpus", "project__name").select_related("project")
    named = list(largest.order_by("-gpus", "created_at")[:MAX_NAMED])
    (workloads, gpus) = _count_gpus(rows)
    (visible_workloads, visible_gpus) = _count_gpus(visible)
    return GpuHolders(
        named,
        workloads - visible_workloads,
        _rounded(gpus - visible_gpus),
        visible_workloads - len(named),
        _rounded(visible_gpus - sum(it.gpus for it in named)),
        _gpus_outside_trainyard(cluster, gpus),
        cluster.gpu_count,
    )


def _is_queued_by_trainyard(workload: Workload) -> bool:
    return not workload.cluster.capabilities.queues


def _queue_of_trainyard(cluster: Cluster) -> list[UUID]:
    if Workload.objects.waiting().filter(cluster=cluster).count() > MAX_WAITING:
        return []
    return list(admission.start_order(cluster))


def _queue_by_age(workload: Workload) -> list[UUID]:
    """The order by age, for clusters whose scheduler decides."""
    rows = Workload.objects.filter(cluster=workload.cluster, phase__in=WAITING, deleted_at=None)
    if workload.cluster.capabilities.quotas:
        rows = rows.filter(project=workload.project, pool=workload.pool)
    ids = list(rows.order_by("queued_at", "pk").values_list("pk", flat=True)[: MAX_WAITING + 1])
    return ids if len(ids) <= MAX_WAITING else []


def _count_gpus(rows: WorkloadQuerySet) -> tuple[int, float]:
    """The number of workloads, and their GPUs together."""
    totals = rows.order_by().aggregate(count=Count("pk"), gpus=Sum("gpus"))
    return totals["count"], float(totals["gpus"] or 0)


def _gpus_outside_trainyard(cluster: Cluster, workload_gpus: float) -> float:
    """GPUs that nodes report in use beyond those of workloads; 0 if they report nothing."""
    allocated = cluster.nodes.aggregate(gpus=Sum("allocated_gpus"))["gpus"] or 0
    return max(_rounded(float(allocated) - workload_gpus), 0.0)


def _rounded(gpus: float) -> float:
    return round(gpus, 3) if gpus > TINY else 0.0
