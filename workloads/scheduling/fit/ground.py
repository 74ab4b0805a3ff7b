"""What a gang is judged on, from the rows of a cluster: one query, which groups equal nodes."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Count, Q
from django.db.models.fields.json import KeyTextTransform

from clusters.models import DEFAULT_POOL, Cluster
from engines.nodes import Taint
from projects.models import Project
from projects.quotas import Account, accounts_of
from spec.workload import WorkloadSpec
from workloads.scheduling import capacity
from workloads.scheduling.fit.judge import Ground
from workloads.scheduling.fit.nodes import NodeGroup, label_keys
from workloads.scheduling.fit.packing import Free
from workloads.scheduling.placement import TINY, Room

CORDONED = "Cordoned"  # how the message of such a node begins
COLUMNS = (
    *("cpu", "memory", "gpu_count", "allocated_cpu", "allocated_memory", "allocated_gpus"),
    *("pool__name", "taints_json", "ready"),
)


def ground_of(cluster: Cluster, spec: WorkloadSpec, project: Project) -> Ground:
    """Of a cluster that queues; with the quotas by which its queue makes workloads wait."""
    quotas = cluster.capabilities.quotas
    return Ground(
        groups=tuple(_groups(cluster, spec)),
        cluster=cluster.name,
        accounts=tuple(accounts_of([project])[project.pk]) if quotas else (),
        device_memory=cluster.gpu_memory if spec.asks_gpu_memory else 0,
    )


def this_machine(
    cluster: Cluster, room: Room, accounts: Iterable[Account], device_memory: int
) -> Ground:
    """Where admission decides: all that there is as one node, with ``room`` left."""
    whole = _all_of(capacity.whole(cluster))
    group = NodeGroup(1, whole, _all_of(room), DEFAULT_POOL)
    return Ground((group,), cluster.name, tuple(accounts), device_memory)


def _groups(cluster: Cluster, spec: WorkloadSpec) -> list[NodeGroup]:
    keys = label_keys(spec)
    labels = {f"label_{n}": KeyTextTransform(key, "labels_json") for n, key in enumerate(keys)}
    rows = (
        cluster.nodes.order_by()
        .annotate(cordoned=Q(message__startswith=CORDONED), **labels)
        .values(*COLUMNS, "cordoned", *labels)
        .annotate(count=Count("pk"))
    )
    return [_group(row, [row[name] for name in labels], keys) for row in rows]


def _group(row: dict[str, Any], values: list[str | None], keys: tuple[str, ...]) -> NodeGroup:
    whole = Free(row["cpu"], row["memory"], (1.0,) * row["gpu_count"])
    return NodeGroup(
        count=row["count"],
        whole=whole,
        free=_free(whole, row),
        pool=row["pool__name"] or DEFAULT_POOL,
        labels={key: str(it) for key, it in zip(keys, values, strict=True) if it is not None},
        taints=tuple(Taint(**taint) for taint in row["taints_json"]),
        cordoned=not row["ready"] and row["cordoned"],
        silent=not row["ready"] and not row["cordoned"],
    )


def _free(whole: Free, row: dict[str, Any]) -> Free | None:
    """Of GPUs that are shared nobody tells which: their parts are taken to be of one device."""
    if row["allocated_cpu"] is None:
        return None
    left = max(len(whole.devices) - (row["allocated_gpus"] or 0), 0)
    devices = int(left + TINY)
    rest = left - devices
    portions = (*((rest,) if rest > TINY else ()), *((1.0,) * devices))
    cpu, memory = whole.cpu - row["allocated_cpu"], whole.memory - (row["allocated_memory"] or 0)
    return Free(round(cpu, 6), memory, portions)


def _all_of(room: Room) -> Free:
    return Free(room.cpu, room.memory, tuple(sorted(room.gpus.values())))
