"""REST: what workloads used of nodes over time, with Run:ai's names of metrics."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import fmean
from typing import NamedTuple
from uuid import UUID

from ninja import Query, Router

from accounts.api.tokens import ApiRequest
from clusters.api.clusters import find_cluster
from clusters.models import Cluster, Node
from core.rest.api import not_found
from core.rest.measures import Measurements, MeasureQuery, MetricSeries, measurement
from spec.parts.scheduling import DEFAULT_POOL
from workloads.models import Rank, Sample, SampleKind

router = Router(tags=["Nodes"], by_alias=True)

PERCENT = 100


@dataclass(frozen=True)
class NodeMeasure:
    """A metric of nodes. ``sampled`` is its key in samples.

    The values of ranks are summed, or averaged if ``mean``, and weighted by how long each rank was
    there. With ``of``, which returns what a node has, the metric is the share of that in percent.
    """

    sampled: str
    mean: bool = False
    of: Callable[[Node], float] | None = None


#: By Run:ai's name of the metric.
MEASURES = {
    "CPU_USAGE_CORES": NodeMeasure("cpu"),
    "CPU_UTILIZATION": NodeMeasure("cpu", of=lambda node: node.cpu),
    "CPU_MEMORY_USAGE_BYTES": NodeMeasure("memory"),
    "CPU_MEMORY_UTILIZATION": NodeMeasure("memory", of=lambda node: node.memory),
    "GPU_UTILIZATION": NodeMeasure("gpu", mean=True),
    "GPU_MEMORY_USAGE_BYTES": NodeMeasure("gpu_memory"),
    "GPU_MEMORY_UTILIZATION": NodeMeasure(
        "gpu_memory", of=lambda node: sum(gpu.memory for gpu in node.gpus)
    ),
}
#: Run:ai has only shares for node pools.
POOL_MEASURES = {name: it for name, it in MEASURES.items() if it.mean or it.of}


class Stay(NamedTuple):
    """The period in which a rank is on its node. ``rank`` is the row's id."""

    rank: int
    started: datetime
    finished: datetime | None

    def share_of(self, end: datetime, length: timedelta) -> float:
        """The fraction (0 to 1) of an interval of this length, which ends at ``end``, that the rank
        was on its node."""
        until = min(end, self.finished) if self.finished else end
        since = max(end - length, self.started)
        return max((until - since) / length, 0.0)


UseOfNodes = dict[int, dict[tuple[Stay, str], list[float]]]  # by the number of the interval


@router.get("/nodes/{int:node_id}/metrics", response=Measurements, operation_id="read_node_metrics")
def node_metrics(request: ApiRequest, node_id: int, query: Query[MeasureQuery]) -> Measurements:
    """What ranks on the node used since they started. Utilization is in percent; that of GPUs is
    the mean of the ranks that have any. A rank counts for as long as it was there. Programs outside
    of workloads are not measured. 501 for metrics that are not measured. Times without samples have
    no values."""
    query.check(MEASURES)
    clusters = Cluster.objects.visible_to(request.user)
    node = Node.objects.filter(pk=node_id, cluster__in=clusters).first()
    if node is None:
        raise not_found("The node")
    return _measurements(query, [node])


@router.get(
    "/clusters/{uuid:cluster_id}/nodepools/{nodepool_name}/metrics",
    response=Measurements,
    operation_id="read_pool_metrics",
)
def pool_metrics(
    request: ApiRequest, cluster_id: UUID, nodepool_name: str, query: Query[MeasureQuery]
) -> Measurements:
    """What ranks used of all nodes that are in a pool now, taken together. Only shares are
    available: 501 for other metrics. Times without samples have no values."""
    query.check(POOL_MEASURES)
    cluster = find_cluster(request, cluster_id)
    if nodepool_name != DEFAULT_POOL and not cluster.pools.filter(name=nodepool_name).exists():
        raise not_found("The node pool")
    return _measurements(query, list(Node.objects.filter(cluster=cluster).in_pool(nodepool_name)))


def _measurements(query: MeasureQuery, nodes: Sequence[Node]) -> Measurements:
    usage = _collect_usage(query, nodes)
    return Measurements(
        measurements=[_usage_series(query, usage, nodes, it) for it in query.metric_type]
    )


def _collect_usage(query: MeasureQuery, nodes: Sequence[Node]) -> UseOfNodes:
    """Return the samples of ranks on these nodes, by interval. Where a rank was before its last
    start is unknown, so earlier samples are left out."""
    names = {(node.cluster_id, node.name) for node in nodes}
    ranks = Rank.objects.filter(
        workload__cluster__in={node.cluster_id for node in nodes},
        node__in={node.name for node in nodes},
        started_at__lt=query.end,
    )
    stays = {
        (workload, run, rank): Stay(pk, started, finished)
        for pk, workload, run, rank, started, finished, cluster, node in ranks.values_list(
            *("pk", "workload", "workload__run", "rank", "started_at", "finished_at"),
            *("workload__cluster", "node"),
        )
        if (cluster, node) in names
    }
    samples = Sample.objects.filter(
        workload__in={workload for workload, _, _ in stays},
        kind=SampleKind.USAGE,
        at__gte=query.start,
        at__lt=query.end,
    )
    usage: UseOfNodes = defaultdict(lambda: defaultdict(list))
    rows = samples.order_by().values_list("workload", "run", "rank", "at", "values")
    for workload, run, rank, at, values in rows.iterator():
        stay = stays.get((workload, run, rank))
        if stay is None or at < stay.started:
            continue
        for name, value in values.items():
            if isinstance(value, int | float):
                usage[query.sample_index(at)][stay, name].append(float(value))
    return usage


def _usage_series(
    query: MeasureQuery, usage: UseOfNodes, nodes: Sequence[Node], name: str
) -> MetricSeries:
    measure = MEASURES[name]
    moments = query.moments()
    capacity = sum(measure.of(node) for node in nodes) / PERCENT if measure.of else 1.0
    points: dict[datetime, float] = {}
    for part, ranks in usage.items():
        end = moments[part]
        means = [
            (fmean(numbers), stay.share_of(end, query.step))
            for (stay, it), numbers in ranks.items()
            if it == measure.sampled
        ]
        shares = sum(share for _, share in means)
        if shares and capacity:
            total = sum(mean * share for mean, share in means)
            points[end] = total / (shares if measure.mean else capacity)
    return measurement(name, points)
