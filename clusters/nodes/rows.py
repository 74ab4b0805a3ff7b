"""Nodes and node pools in words and numbers, for pages and REST."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from clusters.models import DEFAULT_POOL, Cluster, Node, NodePool
from clusters.nodes.occupancy import occupancies
from engines.nodes import Allocation
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
        held = self.allocation
        held_gpus, held_cpu, held_memory = (
            (held.gpus, held.cpu, held.memory) if held else (None, None, None)
        )
        free_memory = format_bytes(max(node.memory - (held_memory or 0), 0))
        return [
            _meter("GPUs", held_gpus, len(node.gpus)),
            _meter("CPU cores", held_cpu, node.cpu),
            (
                "CPU memory",
                held_memory or 0,
                node.memory,
                format_bytes(node.memory) if held is None else f"{free_memory} free",
            ),
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
    used_gpus: float = 0.0
    used_cpu: float = 0.0
    used_memory: int = 0

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
        free = f"{format_bytes(max(self.memory - self.used_memory, 0))} free"
        return [
            _meter("GPUs", self.used_gpus, self.gpus),
            _meter("CPU cores", self.used_cpu, self.cpu),
            ("CPU memory", self.used_memory, self.memory, free if self.memory else "–"),
        ]


def pool_rows(cluster: Cluster) -> list[PoolRow]:
    """Return all pools, the default one first, with sums over their nodes."""
    pools: list[NodePool | None] = [None, *cluster.pools.all()]
    sums = dict(_sums(cluster))
    return [PoolRow(pool, *sums.get(pool.pk if pool else None, ())) for pool in pools]


def _sums(cluster: Cluster) -> Iterator[tuple[int | None, list[Any]]]:
    """Yield the id of each pool with its sums, in the order of the fields of :class:`PoolRow`."""
    counts = {"all": Count("pk"), "well": Count("pk", filter=Q(ready=True))}
    allocated = ("allocated_gpus", "allocated_cpu", "allocated_memory")
    sums = {f"sum_{name}": Sum(name) for name in ("gpu_count", "cpu", "memory", *allocated)}
    grouped = cluster.nodes.order_by().values("pool").annotate(**counts, **sums)
    for pool, *values in grouped.values_list("pool", *counts, *sums):
        yield pool, [value or 0 for value in values]


def without_labels(nodes: QuerySet[Node]) -> QuerySet[Node]:
    """Return nodes without their labels, which only the page of one node shows."""
    return nodes.defer("labels_json")
