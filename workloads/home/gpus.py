"""GPUs allocated over time, against quotas and what the clusters have."""

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone

from clusters.models import Cluster, Node
from clusters.nodes.occupancy import Occupancy, occupancies
from projects.meters import Meter, meters
from projects.models import Project
from projects.quotas import total_quota, usage_of
from spec.parts.scheduling import DEFAULT_POOL
from workloads.history.held import sum_held
from workloads.home.scope import HomeScope
from workloads.models.queries import reach_filter

POINTS = 60
MOST_BANDS = 7  # the others are drawn as one
MOST_QUOTAS = 8
PERIODS = {"24h": timedelta(hours=24), "7d": timedelta(days=7), "30d": timedelta(days=30)}
OTHERS = "others"


@dataclass(frozen=True)
class ClusterRow:
    """A cluster, what is in use there, and how many of its nodes are not ready."""

    cluster: Cluster
    room: Occupancy
    nodes_not_ready: int


def gpus_over_time(scope: HomeScope) -> dict[str, Any]:
    """Return the chart's data: ``times`` in seconds since 1970, a band of GPUs for each project or
    node pool, and the present ``quota`` and number of GPUs (``capacity``)."""
    end = timezone.now()
    length = PERIODS[scope.period]
    start = end - length
    moments = [start + length * (part + 1) / POINTS for part in range(POINTS)]
    condition = reach_filter(scope.reader)
    if scope.project:
        condition &= Q(project=scope.project)
    column = "pool__name" if scope.by_pool else "project__name"
    sums = sum_held(condition, "gpus", column, moments, start=start)
    quotas = [total_quota(project).gpus or 0.0 for project in scope.chosen_projects]
    return {
        "times": [round(moment.timestamp()) for moment in moments],
        "bands": _bands(sums),
        "quota": round(sum(quotas), 4),
        "capacity": sum(cluster.gpu_count for cluster in scope.clusters),
    }


def _bands(sums: dict[Hashable, list[float]]) -> list[dict[str, Any]]:
    """Return a band for each group, the largest first; the smallest ones are summed."""
    largest_first = sorted(sums.items(), key=lambda item: (-sum(item[1]), str(item[0])))
    bands = [
        {"label": str(group or DEFAULT_POOL), "gpus": [round(value, 4) for value in values]}
        for group, values in largest_first[:MOST_BANDS]
        if any(values)
    ]
    rest = [values for _, values in largest_first[MOST_BANDS:] if any(values)]
    if rest:
        totals = [round(sum(values), 4) for values in zip(*rest, strict=True)]
        bands.append({"label": OTHERS, "gpus": totals})
    return bands


def quota_rows(scope: HomeScope) -> list[tuple[Project, Meter]]:
    """Return each chosen project with its GPUs against its quota, the fullest first."""
    projects = scope.chosen_projects
    usage = usage_of(projects)
    rows = [
        (project, meters(total_quota(project), usage[project.pk].demand)[0]) for project in projects
    ]
    rows.sort(key=lambda row: (-row[1].used, row[0].name))
    return rows[:MOST_QUOTAS]


def cluster_rows(scope: HomeScope) -> list[ClusterRow]:
    """Return the clusters in scope with their nodes that are not ready."""
    rooms = occupancies(scope.clusters)
    nodes = Node.objects.filter(cluster__in=scope.clusters, ready=False)
    not_ready: dict[Any, int] = {}
    for cluster in nodes.values_list("cluster", flat=True):
        not_ready[cluster] = not_ready.get(cluster, 0) + 1
    return [
        ClusterRow(cluster, rooms[cluster.pk], not_ready.get(cluster.pk, 0))
        for cluster in scope.clusters
    ]
