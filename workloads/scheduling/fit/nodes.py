"""Represent a cluster's nodes as a few groups of equal ones, and find those that a pod may use.
Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engines.nodes import Taint
from spec.parts.scheduling import (
    NODE_TYPE,
    Effect,
    Expression,
    NodeAffinity,
    Operator,
    Strictness,
    Toleration,
    TolerationOperator,
)
from spec.problems.shortages import (
    CONTROL_PLANE_TAINT,
    CORDONED,
    NOT_ANSWERING,
    NOT_REQUESTED,
    TAINTED,
    Shortage,
)
from spec.workload import Replica, WorkloadSpec
from workloads.scheduling.fit.packing import Free

CONTROL_PLANE = "node-role.kubernetes.io/"
REPELS = (Effect.NO_SCHEDULE, Effect.NO_EXECUTE)


class NodeTraits(NamedTuple):
    """Properties by which pods select nodes. ``labels`` are only those that are asked for."""

    pool: str
    labels: tuple[tuple[str, str], ...] = ()
    taints: tuple[Taint, ...] = ()
    cordoned: bool = False
    silent: bool = False

    @property
    def label(self) -> dict[str, str]:
        return dict(self.labels)


class NodeGroup(NamedTuple):
    """A number of equal ``nodes``. ``free`` is ``None`` if usage by others is unknown."""

    nodes: int
    whole: Free
    free: Free | None
    traits: NodeTraits


def without_pods(groups: Iterable[NodeGroup]) -> tuple[NodeGroup, ...]:
    """The groups with nothing running and all nodes healthy."""
    counted: Counter[tuple[Free, NodeTraits]] = Counter()
    for group in groups:
        counted[group.whole, group.traits] += group.nodes
    return tuple(
        NodeGroup(count, whole, whole, traits._replace(cordoned=False, silent=False))
        for (whole, traits), count in counted.items()
    )


@dataclass(frozen=True)
class Obstacle:
    """Why a pod may not use a node, regardless of free resources."""

    shortage: Shortage
    name: str = ""


def find_obstacle(traits: NodeTraits, replica: Replica, pools: Sequence[str]) -> Obstacle | None:
    """The first obstacle, in the order of Kubernetes' scheduler; ``None`` if the pod may use the
    node."""
    if traits.cordoned:
        return Obstacle(CORDONED)
    if traits.silent:
        return Obstacle(NOT_ANSWERING)
    for taint in traits.taints:
        if taint.effect in REPELS and not any(tolerates(it, taint) for it in replica.tolerations):
            control_plane = taint.key.startswith(CONTROL_PLANE)
            return Obstacle(CONTROL_PLANE_TAINT if control_plane else TAINTED, taint.key)
    if not is_selected(traits, replica, pools):
        return Obstacle(NOT_REQUESTED)
    return None


def is_selected(traits: NodeTraits, replica: Replica, pools: Sequence[str]) -> bool:
    """Whether a node is of the pools, type and labels that a pod asks for."""
    if pools and traits.pool not in pools:
        return False
    if replica.node_type and traits.label.get(NODE_TYPE) != replica.node_type:
        return False
    return matches_affinity(replica.node_affinity_required, traits.label)


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.key != taint.key or toleration.effect not in (Effect.ANY, taint.effect):
        return False
    exists = toleration.operator is TolerationOperator.EXISTS
    return exists or (toleration.value or "") == taint.value


def matches_affinity(affinity: NodeAffinity | None, labels: Mapping[str, str]) -> bool:
    terms = affinity.node_selector_terms if affinity else ()
    return not terms or any(
        all(_matches_expression(one, labels) for one in term.match_expressions) for term in terms
    )


def _matches_expression(expression: Expression, labels: Mapping[str, str]) -> bool:
    value = labels.get(expression.key)
    match expression.operator:
        case Operator.IN:
            return value in expression.values
        case Operator.NOT_IN:
            return value not in expression.values
        case Operator.EXISTS:
            return value is not None
        case Operator.DOES_NOT_EXIST:
            return value is None
    if value is None or not value.isdecimal():
        return False
    least = int(expression.values[0])
    return int(value) > least if expression.operator is Operator.GT else int(value) < least


def label_keys(spec: WorkloadSpec) -> tuple[str, ...]:
    """Labels that a gang selects by, and the node type, which a repair may use."""
    keys = {NODE_TYPE}
    for replica in roles(spec):
        terms = replica.node_affinity_required
        for term in terms.node_selector_terms if terms else ():
            keys |= {one.key for one in term.match_expressions}
    return tuple(sorted(keys | set(shared_labels(spec))))


def roles(spec: WorkloadSpec) -> tuple[Replica, ...]:
    """The replicas of a gang, the workers' first."""
    return tuple(role.replica for role in reversed(spec.gang_roles))


def shared_labels(spec: WorkloadSpec) -> tuple[str, ...]:
    """Labels that must have the same value for all pods."""
    keys = [
        it.pod_affinity.key
        for it in roles(spec)
        if it.pod_affinity and it.pod_affinity.type is Strictness.REQUIRED
    ]
    if spec.topology and spec.topology.required:
        keys.append(spec.topology.required)
    return tuple(dict.fromkeys(keys))


def domains(groups: Iterable[NodeGroup], keys: Sequence[str]) -> list[list[NodeGroup]]:
    """Split the groups by the values of these labels, without nodes that lack one."""
    by_values: dict[tuple[str, ...], list[NodeGroup]] = {}
    for group in groups:
        label = group.traits.label
        values = tuple(label[key] for key in keys if key in label)
        if len(values) == len(keys):
            by_values.setdefault(values, []).append(group)
    return list(by_values.values())
