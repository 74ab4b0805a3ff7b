"""Nodes and node pools in words and numbers, for pages and REST."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from clusters.models import Cluster, Node, NodePool
from clusters.nodes.occupancy import occupancies
from engines.nodes import Allocation
from spec.parts.scheduling import DEFAULT_POOL
from spec.values.quantities import format_bytes

READY = "Ready"
NOT_READY = "NotReady"
UNKNOWN = "Unknown"
CORDONED = "Cordoned"
STATUS_TONES = {READY: "success", NOT_READY: "danger", UNKNOWN: "danger", CORDONED: "warning"}
NODES_APPEAR_WITHIN = timedelta(seconds=30)  # time until a new pool's first nodes are seen
Meter = tuple[str, float, float, str]  # label, used, total, text


@dataclass(frozen=True)
class NodeRow:
    """A node, and how much of it is allocated; ``None`` if that is unknown."""

    node: Node
    allocation: Allocation | None

    @property
    def status(self) -> str:
        """Run:ai's status, and one more for a healthy node that accepts no new pods."""
        if self.node.ready:
            return READY
        conditions = {item["kind"]: item["status"] for item in self.node.conditions_json}
        statuses = {"True": CORDONED, "Unknown": UNKNOWN}
        return statuses.get(conditions.get("Ready", ""), NOT_READY)

    @property
    def tone(self) -> str:
        return STATUS_TONES[self.status]

    @property
    def pool(self) -> str:
        return self.node.pool.name if self.node.pool else DEFAULT_POOL

    @property
    def gpu_type(self) -> str:
        return "; ".join(sorted({gpu.model for gpu in self.node.gpus}))

    @property
    def gpus(self) -> str:
        """The GPUs in words, such as ``4 × Virtual GPU, 16 GB``. Slurm does not report their
        memory."""
        kinds = Counter(
            f"{gpu.model}, {format_bytes(gpu.memory)}" if gpu.memory else gpu.model
            for gpu in self.node.gpus
        )
        return "; ".join(f"{count} × {words}" for words, count in kinds.items())

    @property
    def meters(self) -> list[Meter]:
        """Bars of GPUs, cores and memory: allocated, and free."""
        node = self.node
        return _meters(self.allocation, gpus=len(node.gpus), cpu=node.cpu, memory=node.memory)


def _meters(held: Allocation | None, *, gpus: int, cpu: float, memory: int) -> list[Meter]:
    """Return bars of GPUs, cores and memory. If nobody knows what is allocated they show totals."""
    if held is None:
        of_memory = format_bytes(memory)
    else:
        of_memory = f"{format_bytes(max(memory - held.memory, 0))} free"
    return [
        _meter("GPUs", held.gpus if held else None, gpus),
        _meter("CPU cores", held.cpu if held else None, cpu),
        ("CPU memory", held.memory if held else 0, memory, of_memory if memory else "–"),
    ]


def _meter(label: str, held: float | None, total: float) -> Meter:
    if not total:
        return (label, 0, 0, "–")
    if held is None:
        return (label, 0, total, f"{total:g}")
    return (label, held, total, f"{round(max(total - held, 0), 2):g} of {total:g} free")


def node_rows(cluster: Cluster, nodes: Iterable[Node]) -> list[NodeRow]:
    """Return nodes with what is allocated of each. If the engine does not know that and the cluster
    has a single node, the demands of Trainyard's own workloads count."""
    rows = list(nodes)
    if any(node.allocated_cpu is None for node in rows) and cluster.nodes.count() == 1:
        room = occupancies([cluster])[cluster.pk]
        held = Allocation(room.used_cpu, room.used_memory, room.used_gpus)
        return [NodeRow(node, held) for node in rows]
    return [NodeRow(node, _allocation(node)) for node in rows]


def _allocation(node: Node) -> Allocation | None:
    if node.allocated_cpu is None:
        return None
    return Allocation(node.allocated_cpu, node.allocated_memory or 0, node.allocated_gpus or 0)


@dataclass(frozen=True)
class PoolRow:
    """A node pool with its totals; ``pool`` is ``None`` for the default one."""

    pool: NodePool | None
    nodes: int = 0
    ready: int = 0
    gpus: int = 0
    cpu: float = 0.0
    memory: int = 0
    allocation: Allocation | None = None  # None if nobody knows

    @property
    def name(self) -> str:
        return self.pool.name if self.pool else DEFAULT_POOL

    @property
    def status(self) -> str:
        """Run:ai's phase of a node pool."""
        if not self.nodes:
            return "Empty"
        return "Ready" if self.ready else "Unschedulable"

    @property
    def tone(self) -> str:
        return {"Ready": "success", "Empty": "neutral"}.get(self.status, "danger")

    @property
    def may_get_nodes(self) -> bool:
        """Whether the pool is so new that nodes may still be found for it."""
        pool = None if self.nodes else self.pool
        return pool is not None and timezone.now() - pool.updated_at < NODES_APPEAR_WITHIN

    @property
    def label(self) -> str:
        if self.pool is None:
            return "Everything else"
        return f"{self.pool.label_key}={self.pool.label_value}"

    @property
    def meters(self) -> list[Meter]:
        return _meters(self.allocation, gpus=self.gpus, cpu=self.cpu, memory=self.memory)


def pool_rows(cluster: Cluster) -> list[PoolRow]:
    """Return all pools, the default one first, with sums over their nodes."""
    pools: list[NodePool | None] = [None, *cluster.pools.all()]
    sums = _sums(cluster)
    rows = []
    for pool in pools:
        values = sums.get(pool.pk if pool else None)
        if values is None:
            rows.append(PoolRow(pool))
            continue
        # If the engine does not know what is allocated, the demands of Trainyard's own workloads
        # count, provided that all of them are in this pool.
        allocation = values.pop("allocation")
        if allocation is None and len(sums) == 1:
            room = occupancies([cluster])[cluster.pk]
            allocation = Allocation(room.used_cpu, room.used_memory, room.used_gpus)
        rows.append(PoolRow(pool, **values, allocation=allocation))
    return rows


def _sums(cluster: Cluster) -> dict[int | None, dict[str, Any]]:
    """Return by the id of each pool that has nodes the values of its :class:`PoolRow`."""
    totals = cluster.nodes.order_by().values("pool")
    totals = totals.annotate(
        all=Count("pk"),
        well=Count("pk", filter=Q(ready=True)),
        unknown=Count("pk", filter=Q(allocated_cpu=None)),
        sum_gpus=Sum("gpu_count"),
        sum_cpu=Sum("cpu"),
        sum_memory=Sum("memory"),
        held_gpus=Sum("allocated_gpus"),
        held_cpu=Sum("allocated_cpu"),
        held_memory=Sum("allocated_memory"),
    )
    sums: dict[int | None, dict[str, Any]] = {}
    for row in totals:
        held = Allocation(row["held_cpu"] or 0, row["held_memory"] or 0, row["held_gpus"] or 0)
        sums[row["pool"]] = {
            "nodes": row["all"],
            "ready": row["well"],
            "gpus": row["sum_gpus"] or 0,
            "cpu": row["sum_cpu"] or 0,
            "memory": row["sum_memory"] or 0,
            "allocation": None if row["unknown"] == row["all"] else held,
        }
    return sums


def without_labels(nodes: QuerySet[Node]) -> QuerySet[Node]:
    """Return nodes without their labels, which only the page of one node shows."""
    return nodes.defer("labels_json")
