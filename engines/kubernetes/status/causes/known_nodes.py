"""Compare the scheduler's message with what the nodes are known to have.

The scheduler reports "Insufficient nvidia.com/gpu" both for a node whose GPUs are in use and for
one that has none. For a node with a taint it reports nothing else, and later schedulers do not name
the taint. Pure.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from engines.base import Manifest, Observation
from engines.kubernetes.manifests.pod.requests import extended_requests, pod_requests
from engines.kubernetes.status.causes.unschedulable import (
    has_selected_node,
    is_about_nodes,
    unschedulable_cause,
)
from engines.kubernetes.status.conditions import condition
from engines.nodes import NodeInfo, Taint
from spec.problems.causes import Cause, CauseKind, Share
from spec.problems.shortages import CONTROL_PLANE_TAINT, NOT_REQUESTED, TAINTED
from spec.values.quantities import format_gib

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
REPELLING = ("NoSchedule", "NoExecute")
#: Taints that Kubernetes and clouds set while a node is not usable.
OF_NODE_STATE = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
OF_CONTROL_PLANE = "node-role.kubernetes.io/"
CORDON = "node.kubernetes.io/unschedulable"
NEVER = "It will never start unless such nodes are added."
INSTEAD = "or cluster, or ask the cluster's administrator."
TABS = "the Nodes tab of the cluster shows what is available."


def with_known_nodes(
    observation: Observation, pods: Iterable[Manifest], nodes: Callable[[], Sequence[NodeInfo]]
) -> Observation:
    """Make the cause of an observation exact: no node can ever fit one of its pods, or only nodes
    with a taint can; and name the taints.

    Returns it unchanged if ``nodes`` are not as many as the scheduler counted. KAI does not say how
    many it counted.
    """
    before = observation.cause
    if before is None or not is_about_nodes(before.said):
        return observation
    nodes_now = nodes()
    if not nodes_now or before.total not in {0, len(nodes_now)}:
        return observation
    unplaced = [pod for pod in pods if not pod["spec"].get("nodeName")]
    causes = (_never_fits_cause(pod, nodes_now, before) for pod in unplaced)
    after = next(filter(None, causes), None)
    if after is None:
        after = next(filter(None, (_with_taints(pod, nodes_now, before) for pod in unplaced)), None)
    if after is None or after == before:
        return observation
    old = replace(before, who="").message
    new = replace(after, who="").message
    ranks = tuple(
        replace(one, message=new) if one.message == old else one for one in observation.ranks
    )
    message = after.message if observation.message == before.message else observation.message
    return replace(observation, cause=after, message=message, ranks=ranks)


def _scheduler_message(pod: Manifest) -> str:
    return str(condition(pod.get("status") or {}, "PodScheduled").get("message", ""))


def _never_fits_cause(pod: Manifest, nodes: Sequence[NodeInfo], before: Cause) -> Cause | None:
    """The cause if the pod fits no node, however empty they are; ``None`` if it fits one."""
    selected = [node for node in nodes if admits(pod, node.labels)]
    if not selected:
        return None if has_selected_node(before.said) else _not_selected_cause(nodes, before)
    large = [node for node in selected if not any(_shortages(pod, [node], before.said))]
    if not large:
        return _too_small_cause(pod, selected, before, of_all=len(selected) == len(nodes))
    taints = [_repelling_taint(pod, node) for node in large]
    reserved = Counter(taint.key for taint in taints if taint and not _is_of_state(taint))
    if reserved.total() < len(large):
        return None
    (key, _), *_ = reserved.most_common(1)
    shortage = CONTROL_PLANE_TAINT if key.startswith(OF_CONTROL_PLANE) else TAINTED
    named = _with_taints(pod, nodes, before) or before
    label = shortage.label.format(key)
    shares = sorted(named.shares, key=lambda share: share.label != label)
    return replace(
        before,
        kind=CauseKind.NODES,
        title=shortage.title.format(key),
        todo=shortage.todo.format(key),
        shares=tuple(shares),
    )


def _too_small_cause(
    pod: Manifest, selected: Sequence[NodeInfo], before: Cause, *, of_all: bool
) -> Cause:
    """Return the cause for a pod that asks for more than any of the nodes has. ``of_all``: it
    selects all nodes of the cluster."""
    where = "of the cluster" if of_all else "of the requested pool or type"
    lacks = " and ".join(_shortages(pod, selected, before.said)) or "everything it requests at once"
    choices = "compute resource" if of_all else "node pool, node type, compute resource"
    todo = f"{NEVER} Choose another {choices} {INSTEAD}"
    title = f"No node {where} has {lacks}"
    return Cause(CauseKind.NODES, title, todo, said=before.said, who=before.who)


def _not_selected_cause(nodes: Sequence[NodeInfo], before: Cause) -> Cause:
    """Return the cause for a pod whose own selection excludes all nodes."""
    todo = f"{NEVER} Choose another node pool, node type {INSTEAD} {TABS.capitalize()}"
    share = Share(NOT_REQUESTED.label, len(nodes))
    title = NOT_REQUESTED.title
    return replace(before, kind=CauseKind.NODES, title=title, todo=todo, shares=(share,))


def _with_taints(pod: Manifest, nodes: Sequence[NodeInfo], before: Cause) -> Cause | None:
    """The cause with the taints named that keep the pod from nodes; ``None`` if the scheduler said
    something else about the pod. It looks at a node's taints after its cordon."""
    said = _scheduler_message(pod)
    if not said or said not in before.said:
        return None
    taints = [
        _repelling_taint(pod, node)
        for node in nodes
        if not any(taint.key == CORDON for taint in node.taints)
    ]
    plain = unschedulable_cause(said)
    named = unschedulable_cause(said, Counter(taint.key for taint in taints if taint))
    if named.shares == plain.shares:
        return None
    # Another part may have added to what to do.
    todo = before.todo.replace(plain.todo, named.todo) if plain.todo else named.todo
    return replace(before, kind=named.kind, title=named.title, todo=todo, shares=named.shares)


def _repelling_taint(pod: Manifest, node: NodeInfo) -> Taint | None:
    """The first taint of a node that keeps the pod away; ``None`` if none does."""
    tolerations = pod["spec"].get("tolerations") or ()
    for taint in node.taints:
        if taint.effect in REPELLING and not any(tolerates(one, taint) for one in tolerations):
            return taint
    return None


def tolerates(toleration: Manifest, taint: Taint) -> bool:
    """Whether a pod's toleration covers a taint; one without a key or effect covers all of them."""
    if toleration.get("key") and toleration["key"] != taint.key:
        return False
    if toleration.get("effect") and toleration["effect"] != taint.effect:
        return False
    exists = toleration.get("operator") == "Exists"
    return exists or (toleration.get("value") or "") == taint.value


def _is_of_state(taint: Taint) -> bool:
    return taint.key.startswith(OF_NODE_STATE)


def _shortages(pod: Manifest, nodes: Sequence[NodeInfo], said: str) -> Iterator[str]:
    """The pod's requests that exceed what any node has, the scarcest first. A driver may provide an
    extended resource that no node lists, so the scheduler must have ``said`` that it lacks."""
    wanted = pod_requests(pod)
    if wanted.gpus > (most := max(len(node.gpus) for node in nodes)):
        yield f"{wanted.gpus:g} GPUs, the most is {most}" if most else "GPUs"
    for name, amount in extended_requests(pod).items():
        offered = max(node.resources.get(name, 0) for node in nodes)
        if amount > offered and f"Insufficient {name}" in said:
            yield f"{amount} {name}, the most is {offered:g}" if offered else name
    if wanted.cpu > (cores := max(node.cpu for node in nodes)):
        yield f"{wanted.cpu:g} CPU cores, the most is {cores:g}"
    if wanted.memory > (memory := max(node.memory for node in nodes)):
        yield f"{format_gib(wanted.memory)} of memory, the most is {format_gib(memory)}"


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
