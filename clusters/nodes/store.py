"""Store the nodes of a cluster, and assign them to node pools."""

from collections.abc import Iterable, Mapping
from typing import Any

from clusters.models import Cluster, Node, NodePool
from engines.nodes import NodeInfo

BATCH_SIZE = 500  # rows per statement
OBSERVED_COLUMNS = (
    "ready message cpu memory gpus_json gpu_count labels_json taints_json conditions_json "
    "allocated_cpu allocated_memory allocated_gpus pool"
).split()
TOTALS = ["gpu_count", "cpu", "memory", "gpu_memory", "has_virtual_gpus", "counted_at"]


def store(cluster: Cluster, nodes: Iterable[NodeInfo]) -> None:
    """Store the nodes and their totals. Only changed rows are written, because few of thousands of
    nodes change within a minute."""
    nodes = tuple(nodes)
    pools = list(cluster.pools.all())
    rows = {node.name: node for node in cluster.nodes.all()}
    created = []
    changed = []
    for info in nodes:
        pool = pool_of(pools, info.labels)
        values = _values(info) | {"pool_id": pool.pk if pool else None}
        node = rows.pop(info.name, None)
        if node is None:
            created.append(Node(cluster=cluster, name=info.name, **values))
        elif _set_values(node, values):
            changed.append(node)
    Node.objects.bulk_create(created, batch_size=BATCH_SIZE)
    Node.objects.bulk_update(changed, OBSERVED_COLUMNS, batch_size=BATCH_SIZE)
    gone = [node.pk for node in rows.values()]
    for start in range(0, len(gone), BATCH_SIZE):
        Node.objects.filter(pk__in=gone[start : start + BATCH_SIZE]).delete()
    store_totals(cluster, nodes)


def store_totals(cluster: Cluster, nodes: Iterable[NodeInfo]) -> None:
    """Store the totals of the nodes in the row of their cluster."""
    nodes = list(nodes)
    ready = [node for node in nodes if node.ready]
    gpus = [gpu for node in nodes for gpu in node.gpus]
    cluster.gpu_count = sum(len(node.gpus) for node in ready)
    cluster.cpu = sum(node.cpu for node in ready)
    cluster.memory = sum(node.memory for node in ready)
    cluster.gpu_memory = min((gpu.memory for gpu in gpus), default=0)
    cluster.has_virtual_gpus = any(gpu.virtual for gpu in gpus)
    times = (node.counted_at for node in nodes if node.counted_at)
    cluster.counted_at = max(times, default=None)
    cluster.save(update_fields=TOTALS)


def assign_pools(cluster: Cluster) -> None:
    """Assign all nodes to pools again, after a pool has changed."""
    pools = list(cluster.pools.all())
    moved = []
    for node in cluster.nodes.only("labels_json", "pool"):
        pool = pool_of(pools, node.labels_json)
        if node.pool_id != (pool.pk if pool else None):
            node.pool = pool
            moved.append(node)
    Node.objects.bulk_update(moved, ["pool"], batch_size=BATCH_SIZE)


def pool_of(pools: Iterable[NodePool], labels: Mapping[str, str]) -> NodePool | None:
    """Return the first of ``pools`` whose label the node has; ``None`` means the default pool."""
    for pool in pools:
        if labels.get(pool.label_key) == pool.label_value:
            return pool
    return None


def _values(info: NodeInfo) -> dict[str, Any]:
    """Return the columns of a node."""
    allocated = info.allocated
    # vars() instead of asdict(), whose deep copy would take most of the time of storing nodes.
    return {
        "ready": info.ready,
        "message": info.message,
        "cpu": info.cpu,
        "memory": info.memory,
        "gpus_json": [{**vars(gpu)} for gpu in info.gpus],
        "gpu_count": len(info.gpus),
        "labels_json": dict(info.labels),
        "taints_json": [{**vars(taint)} for taint in info.taints],
        "conditions_json": [{**vars(condition)} for condition in info.conditions],
        "allocated_cpu": allocated.cpu if allocated else None,
        "allocated_memory": allocated.memory if allocated else None,
        "allocated_gpus": allocated.gpus if allocated else None,
    }


def _set_values(node: Node, values: dict[str, Any]) -> bool:
    """Set the values on the row. Returns whether any changed."""
    changes = {name: value for name, value in values.items() if getattr(node, name) != value}
    for name, value in changes.items():
        setattr(node, name, value)
    return bool(changes)
