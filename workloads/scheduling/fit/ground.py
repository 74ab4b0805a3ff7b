"""Load what a gang is judged on: one query, which groups equal nodes."""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from django.db.models import Count, Q, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from clusters.models import Cluster
from engines.nodes import Taint
from projects.models import Project
from projects.pool_quotas import pool_names
from projects.quotas import StrictQuota, strict_quotas_of
from spec.parts.scheduling import DEFAULT_POOL
from spec.workload import WorkloadSpec
from workloads.scheduling import capacity
from workloads.scheduling.fit.judge import Ground
from workloads.scheduling.fit.nodes import NodeGroup, NodeTraits, label_keys
from workloads.scheduling.fit.packing import Free
from workloads.scheduling.placement import TINY, Room

AT_ONCE = 2000  # rows
CORDONED = "Cordoned"  # start of a cordoned node's message
COLUMNS = (
    *("cpu", "memory", "gpu_count", "allocated_cpu", "allocated_memory", "allocated_gpus"),
    *("pool_id", "ready"),
)
RESOURCES = 6  # number of columns with resources; the others distinguish kinds of nodes


def supply_of_cluster(cluster: Cluster, spec: WorkloadSpec, project: Project) -> Ground:
    """The ground of a cluster with a queue of its own, including quotas that it enforces."""
    accounts: dict[str, list[StrictQuota]] = {}
    if cluster.capabilities.quotas:
        # Repairs try other node pools, but only if the workload names some.
        pools = pool_names(cluster) if spec.node_pools else [DEFAULT_POOL]
        accounts = {it: strict_quotas_of([project], pool=it)[project.pk] for it in pools}
    return Ground(
        groups=tuple(_groups(cluster, spec)),
        cluster=cluster.name,
        accounts=accounts,
        device_memory=cluster.gpu_memory if spec.depends_on_gpu_memory else 0,
        queue=cluster.definition.starting_queue(cluster, project.name, spec),
    )


def supply_of_machine(
    cluster: Cluster, room: Room, accounts: Iterable[StrictQuota], device_memory: int
) -> Ground:
    """The ground where admission decides: one node with ``room`` left."""
    whole = _all_of(capacity.total_room(cluster))
    group = NodeGroup(1, whole, _all_of(room), NodeTraits(DEFAULT_POOL))
    return Ground((group,), cluster.name, {DEFAULT_POOL: tuple(accounts)}, device_memory)


def _groups(cluster: Cluster, spec: WorkloadSpec) -> Iterator[NodeGroup]:
    """Groups of equal nodes, grouped by the database. Taints are compared as text."""
    keys = label_keys(spec)
    pools = {pool.pk: pool.name for pool in cluster.pools.all()}
    kinds: dict[tuple[Any, ...], NodeTraits] = {}
    labels = {f"label_{n}": KeyTextTransform(key, "labels_json") for n, key in enumerate(keys)}
    more = {
        "cordoned": Q(message__startswith=CORDONED),
        "taints_text": Cast("taints_json", TextField()),
        **labels,
    }
    rows = cluster.nodes.order_by().annotate(**more).values_list(*COLUMNS, *more)
    for row in rows.annotate(count=Count("pk")).iterator(chunk_size=AT_ONCE):
        cpu, memory, gpus, *used = row[:RESOURCES]
        kind = row[RESOURCES:-1]
        whole = _empty_node(cpu, memory, gpus)
        if (traits := kinds.get(kind)) is None:
            pool, *rest = kind
            traits = kinds[kind] = _traits(pools.get(pool, DEFAULT_POOL), keys, *rest)
        yield NodeGroup(row[-1], whole, _free_resources(whole, *used), traits)


def _traits(
    pool: str, keys: Sequence[str], ready: bool, cordoned: bool, taints: str, *values: str | None
) -> NodeTraits:
    named = tuple((key, value) for key, value in zip(keys, values, strict=True) if value)
    unavailable = (not ready and cordoned, not ready and not cordoned)
    return NodeTraits(pool, named, _taints(taints), *unavailable)


@lru_cache(maxsize=1024)
def _empty_node(cpu: float, memory: int, gpus: int) -> Free:
    return Free(cpu, memory, (1.0,) * gpus)


@lru_cache(maxsize=1024)
def _taints(text: str) -> tuple[Taint, ...]:
    return tuple(Taint(**taint) for taint in json.loads(text))


def _free_resources(
    whole: Free, cpu: float | None, memory: int | None, gpus: float | None
) -> Free | None:
    if cpu is None:
        return None
    left = max(len(whole.devices) - (gpus or 0), 0)
    return Free(round(whole.cpu - cpu, 6), whole.memory - (memory or 0), _device_portions(left))


@lru_cache(maxsize=1024)
def _device_portions(left: float) -> tuple[float, ...]:
    """Free portions of GPUs. Nobody says which GPUs are shared, so the shared portions are assumed
    to be on one device."""
    devices = int(left + TINY)
    rest = left - devices
    return (*((rest,) if rest > TINY else ()), *((1.0,) * devices))


def _all_of(room: Room) -> Free:
    return Free(room.cpu, room.memory, tuple(sorted(room.gpus.values())))
