"""Find pods that can never fit: compare the scheduler's message with what nodes have.

The scheduler reports "Insufficient nvidia.com/gpu" both for a node whose GPUs are in use and for
one that has none; for a node with a taint it reports nothing else. Pure.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from engines.base import Manifest, Observation
from engines.kubernetes.manifests.pod.requests import pod_requests
from engines.kubernetes.status.causes.unschedulable import has_node_without_room
from engines.nodes import Allocation, NodeInfo
from spec.problems.causes import Cause, CauseKind, Share
from spec.problems.shortages import NOT_REQUESTED
from spec.values.quantities import format_gib

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
NEVER = "It will never start unless such nodes are added."
INSTEAD = "or cluster, or ask the cluster's administrator."
TABS = "the Nodes tab of the cluster shows what is available."


def with_never_fits(
    observation: Observation, pods: Iterable[Manifest], nodes: Callable[[], Sequence[NodeInfo]]
) -> Observation:
    """Replace the cause of an observation if no node can ever fit one of its pods.

    Returns it unchanged if ``nodes`` are not as many as the scheduler counted.
    """
    before = observation.cause
    if before is None or not before.total:
        return observation
    nodes_now = nodes()
    if before.total != len(nodes_now):
        return observation
    causes = (
        _never_fits_cause(pod, nodes_now, before) for pod in pods if not pod["spec"].get("nodeName")
    )
    after = next(filter(None, causes), None)
    if after is None:
        return observation
    old = replace(before, who="").message
    new = replace(after, who="").message
    ranks = tuple(
        replace(one, message=new) if one.message == old else one for one in observation.ranks
    )
    message = after.message if observation.message == before.message else observation.message
    return replace(observation, cause=after, message=message, ranks=ranks)


def _never_fits_cause(pod: Manifest, nodes: Sequence[NodeInfo], before: Cause) -> Cause | None:
    possible = [node for node in nodes if admits(pod, node.labels)]
    if not possible:
        return None if has_node_without_room(before.said) else _not_selected_cause(nodes, before)
    if any(_is_large_enough(node, pod_requests(pod)) for node in possible):
        return None
    all_of_them = len(possible) == len(nodes)
    where = "of the cluster" if all_of_them else "of the requested pool or type"
    lacks = (
        " and ".join(_shortages(pod_requests(pod), possible)) or "everything it requests at once"
    )
    choices = "compute resource" if all_of_them else "node pool, node type, compute resource"
    todo = f"{NEVER} Choose another {choices} {INSTEAD}"
    title = f"No node {where} has {lacks}"
    return Cause(CauseKind.NODES, title, todo, said=before.said, who=before.who)


def _not_selected_cause(nodes: Sequence[NodeInfo], before: Cause) -> Cause:
    """Return the cause for a pod whose own selection excludes all nodes."""
    todo = f"{NEVER} Choose another node pool, node type {INSTEAD} {TABS.capitalize()}"
    share = Share(NOT_REQUESTED.label, len(nodes))
    title = NOT_REQUESTED.title
    return replace(before, kind=CauseKind.NODES, title=title, todo=todo, shares=(share,))


def _is_large_enough(node: NodeInfo, wanted: Allocation) -> bool:
    return len(node.gpus) >= wanted.gpus and node.cpu >= wanted.cpu and node.memory >= wanted.memory


def _shortages(wanted: Allocation, nodes: Sequence[NodeInfo]) -> Iterator[str]:
    """Requests that exceed what any node has, the scarcest first."""
    if wanted.gpus > (most := max(len(node.gpus) for node in nodes)):
        yield f"{wanted.gpus:g} GPUs, the most is {most}" if most else "GPUs"
    if wanted.cpu > (cores := max(node.cpu for node in nodes)):
        yield f"{wanted.cpu:g} CPU cores, the most is {cores:g}"
    if wanted.memory > (most := max(node.memory for node in nodes)):
        yield f"{format_gib(wanted.memory)} of memory, the most is {format_gib(most)}"


def admits(pod: Manifest, labels: Mapping[str, str]) -> bool:
    """Whether the pod's node selector and affinity allow a node with these labels."""
    spec = pod["spec"]
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return False
    node = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    terms = (node.get(REQUIRED) or {}).get("nodeSelectorTerms") or []
    return not terms or any(
        all(_matches(one, labels) for one in term.get("matchExpressions") or ()) for term in terms
    )


def _matches(one: Manifest, labels: Mapping[str, str]) -> bool:
    here = labels.get(one["key"])
    values = one.get("values") or []
    match one["operator"]:
        case "In":
            return here in values
        case "NotIn":
            return here not in values
        case "Exists":
            return here is not None
        case "DoesNotExist":
            return here is None
        case other:
            if here is None or not here.isdecimal():
                return False
            return int(here) > int(values[0]) if other == "Gt" else int(here) < int(values[0])
