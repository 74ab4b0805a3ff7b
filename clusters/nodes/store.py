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
    """Store only what changed: of thousands of nodes few change within a minute."""
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
    """Store the totals of its nodes on the cluster."""
    nodes = list(nodes)
    ready = [node for node in nodes if node.ready]
    gpus = [gpu for node in nodes for gpu in node.gpus]
    cluster.gpu_count = sum(len(node.gpus) for node in ready)
    cluster.cpu = sum(node.cpu for node in ready)
    cluster.memory = sum(node.memory for node in ready)
    cluster.gpu_memory = min((gpu.memory for gpu in gpus), default=0)
    cluster.has_virtual_gpus = any(gpu.virtual for gpu in gpus)
    cluster.counted_at = max((it.counted_at for it in nodes if it.counted_at), default=None)
    cluster.save(update_fields=TOTALS)


def assign_pools(cluster: Cluster) -> None:
    """Assign all nodes again, after a pool was changed."""
    pools = list(cluster.pools.all())
    moved = []
    for node in cluster.nodes.only("labels_json", "pool"):
        pool = pool_of(pools, node.labels_json)
        if node.pool_id != (pool.pk if pool else None):
            node.pool = pool
            moved.append(node)
    Node.objects.bulk_update(moved, ["pool"], batch_size=BATCH_SIZE)


def pool_of(pools: Iterable[NodePool], labels: Mapping[str, str]) -> NodePool | None:
    """The first pool by name whose label the node has; ``None`` is the default pool."""
    for pool in pools:
        if labels.get(pool.label_key) == pool.label_value:
            return pool
    return None


def _values(info: NodeInfo) -> dict[str, Any]:
    held = info.allocated  # not asdict(), whose deep copy takes most of the time
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
        "allocated_cpu": held.cpu if held else None,
        "allocated_memory": held.memory if held else None,
        "allocated_gpus": held.gpus if held else None,
    }


def _set_values(node: Node, values: dict[str, Any]) -> bool:
    """Set the values on the row; returns whether any changed."""
    new = {name: value for name, value in values.items() if getattr(node, name) != value}
    for name, value in new.items():
        setattr(node, name, value)
    return bool(new)
