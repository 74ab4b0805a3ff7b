"""Where pods may run, and with which priority: affinity, tolerations, KAI's labels."""

from collections.abc import Iterable

from engines.base import Launch, Manifest
from engines.kubernetes.jobs import KAI
from engines.kubernetes.labels import WORKLOAD
from engines.kubernetes.manifests.values import without_empty
from engines.kubernetes.names import project_queue
from spec.parts.compute import Compute, GpuRequestType
from spec.parts.scheduling import (
    DEFAULT_POOL,
    NODE_TYPE,
    Effect,
    NodeAffinity,
    PodAffinity,
    Strictness,
    Toleration,
)
from spec.values.quantities import to_bytes
from spec.workload import Replica

QUEUE = "kai.scheduler/queue"
PRIORITY = "priorityClassName"
PREEMPTIBILITY = "kai.scheduler/preemptibility"
TOPOLOGY = "kai.scheduler/topology"
FRACTION = "gpu-fraction"
GPU_MEMORY = "gpu-memory"
MIB = 1024**2
MOST_WEIGHT = 100
Terms = list[list[Manifest]]  # the terms are alternatives; all expressions of one have to hold


def has_kai(launch: Launch) -> bool:
    return KAI in launch.site.schedulers


def labels(launch: Launch, prefix: str) -> dict[str, str]:
    """KAI's labels of the job and its pods."""
    if not has_kai(launch):
        return {}
    spec = launch.spec
    values = {QUEUE: project_queue(launch.handle.project, prefix, spec.first_pool)}
    values |= {PRIORITY: str(spec.priority_class)} if spec.priority_class else {}
    return values | ({PREEMPTIBILITY: str(spec.preemptibility)} if spec.preemptibility else {})


def annotations(launch: Launch) -> dict[str, str]:
    """KAI's annotations of the job: how close together its pods have to be."""
    topology = launch.spec.topology
    if topology is None:
        return {}
    levels = {
        TOPOLOGY: topology.name,
        f"{TOPOLOGY}-required-placement": topology.required,
        f"{TOPOLOGY}-preferred-placement": topology.preferred,
    }
    return {key: value for key, value in levels.items() if value}


def gpu_share(compute: Compute) -> dict[str, str]:
    """KAI's annotations of the pod template: the fraction of a GPU, or its memory in MiB.

    KAI refuses a fraction of 1: a whole device is requested from Kubernetes.
    """
    if not compute.shares_gpu:
        return {}
    if compute.gpu_request_type is GpuRequestType.PORTION:
        return {FRACTION: f"{compute.gpu_portion_request:g}"}
    if compute.gpu_request_type is GpuRequestType.MEMORY:
        asked = to_bytes(compute.gpu_memory_request or "0")
        return {GPU_MEMORY: str(-(-asked // MIB))}
    return {}


def placement(launch: Launch, replica: Replica) -> Manifest:
    """The fields of a pod that decide where it runs."""
    priority = launch.spec.priority_class if not has_kai(launch) else None
    return without_empty(
        {
            "schedulerName": KAI if has_kai(launch) else None,
            "priorityClassName": str(priority) if priority else None,
            "affinity": affinity(launch, replica),
            "tolerations": [toleration(one) for one in replica.tolerations],
        }
    )


def affinity(launch: Launch, replica: Replica) -> Manifest:
    pools = [pool_terms(launch, name) for name in launch.spec.node_pools]
    asked = node_terms(replica.node_affinity_required)
    asked = combine_terms(
        asked, [[in_expression(NODE_TYPE, replica.node_type)]] if replica.node_type else []
    )
    asked = combine_terms(asked, [term for terms in pools for term in terms])
    preferred = [
        {"weight": MOST_WEIGHT - order, "preference": {"matchExpressions": term}}
        for order, terms in enumerate(pools)
        for term in terms
        if len(pools) > 1 and term
    ]
    required = {"nodeSelectorTerms": [{"matchExpressions": term} for term in asked if term]}
    node = {
        "requiredDuringSchedulingIgnoredDuringExecution": required if any(asked) else None,
        "preferredDuringSchedulingIgnoredDuringExecution": preferred,
    }
    return without_empty(
        {
            "nodeAffinity": without_empty(node),
            "podAffinity": pod_affinity(launch, replica.pod_affinity),
        }
    )


def combine_terms(left: Terms, right: Terms) -> Terms:
    """Combine alternatives so that one of each side has to hold. No terms at all allow
    everything."""
    return [a + b for a in left or [[]] for b in right or [[]]] if left or right else []


def pool_terms(launch: Launch, name: str) -> Terms:
    """Terms for the nodes of a pool: those with its label, or, for the default pool, without any
    pool's."""
    pools = launch.site.pools
    if name == DEFAULT_POOL and name not in pools:
        others = [{"key": k, "operator": "NotIn", "values": [v]} for k, v in pools.values()]
        return [others]
    return [[in_expression(*pools[name])]]


def in_expression(key: str, value: str) -> Manifest:
    return {"key": key, "operator": "In", "values": [value]}


def node_terms(asked: NodeAffinity | None) -> Terms:
    return [
        [
            without_empty({"key": it.key, "operator": str(it.operator), "values": list(it.values)})
            for it in term.match_expressions
        ]
        for term in (asked.node_selector_terms if asked else ())
    ]


def pod_affinity(launch: Launch, asked: PodAffinity | None) -> Manifest:
    """Affinity that brings the pods of a workload together."""
    if asked is None:
        return {}
    selector = {"matchLabels": {WORKLOAD: str(launch.handle.workload_id)}}
    term = {"labelSelector": selector, "topologyKey": asked.key}
    if asked.type is Strictness.REQUIRED:
        return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    weighted = {"weight": MOST_WEIGHT, "podAffinityTerm": term}
    return {"preferredDuringSchedulingIgnoredDuringExecution": [weighted]}


def toleration(asked: Toleration) -> Manifest:
    return without_empty(
        {
            "key": asked.key,
            "operator": str(asked.operator),
            "value": asked.value,
            "effect": None if asked.effect is Effect.ANY else str(asked.effect),
            "tolerationSeconds": asked.seconds,
        }
    )


def unknown_pools(launch: Launch) -> Iterable[str]:
    pools = {*launch.site.pools, DEFAULT_POOL}
    return [name for name in launch.spec.node_pools if name not in pools]
