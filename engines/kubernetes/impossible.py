"""Pods that no node can take as they are: what the scheduler said, held against what nodes have.

The scheduler says "Insufficient nvidia.com/gpu" of a node whose GPUs are taken and of one that has
none alike. Pure.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from engines.base import Manifest, Node, Observation
from engines.kubernetes.inventory import asked
from engines.kubernetes.kinds import GPU
from spec.causes import Cause, CauseKind

LACKING = f"Insufficient {GPU}"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
NEVER = "As it is it never starts, unless such nodes are added."
INSTEAD = "or cluster, or ask the cluster's administrator."


def judged(
    seen: Observation, pods: Iterable[Manifest], nodes: Callable[[], Sequence[Node]]
) -> Observation:
    """With a cause that says so where no node will ever do; else as it was.

    Not where our ``nodes`` are not those that the scheduler looked at.
    """
    before = seen.cause
    if before is None or LACKING not in before.said:
        return seen
    known = nodes()
    if before.total != len(known):
        return seen
    told = (_never(pod, known, before) for pod in pods if not pod["spec"].get("nodeName"))
    after = next(filter(None, told), None)
    if after is None:
        return seen
    old, new = replace(before, who="").message, replace(after, who="").message
    ranks = tuple(replace(one, message=new) if one.message == old else one for one in seen.ranks)
    message = after.message if seen.message == before.message else seen.message
    return replace(seen, cause=after, message=message, ranks=ranks)


def _never(pod: Manifest, nodes: Sequence[Node], before: Cause) -> Cause | None:
    wanted = asked(pod).gpus
    possible = [node for node in nodes if admits(pod, node.labels)]
    most = max((len(node.gpus) for node in possible), default=0)
    if not possible or wanted <= most:
        return None
    all_of_them = len(possible) == len(nodes)
    where = "of the cluster" if all_of_them else "of the pool or type asked for"
    title = f"No node {where} has {f'{wanted:g} GPUs, the most is {most}' if most else 'GPUs'}"
    choices = "compute resource" if all_of_them else "node pool, node type, compute resource"
    todo = f"{NEVER} Choose another {choices} {INSTEAD}"
    return Cause(CauseKind.NODES, title, todo, said=before.said, who=before.who)


def admits(pod: Manifest, labels: Mapping[str, str]) -> bool:
    """Whether the pod's own choice of nodes leaves one with these labels."""
    spec = pod["spec"]
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return False
    node = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    terms = (node.get(REQUIRED) or {}).get("nodeSelectorTerms") or []
    return not terms or any(
        all(_holds(one, labels) for one in term.get("matchExpressions") or ()) for term in terms
    )


def _holds(one: Manifest, labels: Mapping[str, str]) -> bool:
    here, values = labels.get(one["key"]), one.get("values") or []
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
