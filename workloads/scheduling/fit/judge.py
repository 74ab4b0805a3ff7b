"""Judge a gang on the nodes as last seen: it starts now, later, never, or nobody can say. Pure."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from engines.local_queues import LocalQueue
from projects.quotas import Demand, StrictQuota
from spec.phases import Reason
from spec.problems.causes import Cause, CauseKind, Share
from spec.problems.shortages import AFFINITY, CLUSTER, CPU, GPUS, MEMORY, Shortage
from spec.values.quantities import format_gib
from spec.workload import Replica, WorkloadSpec
from workloads.scheduling.fit.nodes import (
    NodeGroup,
    NodeTraits,
    Obstacle,
    domains,
    find_obstacle,
    is_selected,
    roles,
    shared_labels,
    without_pods,
)
from workloads.scheduling.fit.packing import (
    NOWHERE,
    Ask,
    Packing,
    Spot,
    pack,
    pack_together,
)
from workloads.scheduling.fit.queue import cause_beyond_quota, queue_note

UNLESS = "It will never start unless such nodes are added."
QUEUE = "The cluster's queue decides when it starts"
NO_NODES = f"{QUEUE}: its nodes are not known yet."
UNSEEN = f"{QUEUE}: Trainyard cannot see what other pods hold on its nodes."
DEVICES = f"{QUEUE}: how much {{0}} is free on its nodes is not known here."
MIXED = f"{QUEUE}: each role fits, but how pods of different roles share nodes is not foreseen."
ORDER = f"{QUEUE}: all pods fit, but not wherever it may place the first of them."


class Answer(StrEnum):
    NOW = "now"
    LATER = "later"
    NEVER = "never"
    UNKNOWN = "unknown"  # the cluster's queue decides


@dataclass(frozen=True)
class Ground:
    """What a gang is judged on: the nodes, and quotas that it may have to wait for."""

    groups: tuple[NodeGroup, ...]
    cluster: str
    accounts: Mapping[str, Sequence[StrictQuota]] = field(default_factory=dict)  # by node pool
    device_memory: int = 0  # bytes of a GPU, to convert GPU memory into a fraction
    queue: LocalQueue | None = None  # of Kueue, which decides when the gang starts

    @property
    def nodes(self) -> int:
        return sum(group.nodes for group in self.groups)

    @cached_property
    def empty(self) -> "Ground":
        """The ground with nothing running."""
        return replace(self, groups=without_pods(self.groups))

    @cached_property
    def by_traits(self) -> dict[NodeTraits, list[NodeGroup]]:
        sorted_out: dict[NodeTraits, list[NodeGroup]] = {}
        for group in self.groups:
            sorted_out.setdefault(group.traits, []).append(group)
        return sorted_out


@dataclass(frozen=True)
class Fit:
    """A judgement. ``cause`` is what the gang would wait for, as after submission; ``note`` says
    why nobody can say. ``largest`` is the number of workers that would start now; ``None`` if
    unknown."""

    answer: Answer
    cause: Cause | None = None
    note: str = ""
    largest: int | None = None


def predict_fit(spec: WorkloadSpec, ground: Ground) -> Fit:
    """Judge a gang. Where Kueue decides when it starts, the answer is never or unknown: a queue
    has an order of its own, and may preempt others."""
    fit = _fit_on_nodes(spec, ground)
    if ground.queue is None or fit.answer is Answer.NEVER:
        return fit
    if cause := cause_beyond_quota(spec, ground.queue):
        return Fit(Answer.NEVER, cause)
    return Fit(Answer.UNKNOWN, note=queue_note(spec, ground.queue))


def _fit_on_nodes(spec: WorkloadSpec, ground: Ground) -> Fit:
    if not ground.groups:
        return Fit(Answer.UNKNOWN, note=NO_NODES)
    if spec.roles:
        return _fit_of_roles(spec, ground)
    note = _reason_unknown(spec, ground)
    packing = _pack_gang(spec, ground)
    largest = None if note else workers_within_quota(spec, ground, packing.best)
    if _pack_gang(spec, ground.empty).best < spec.num_workers:
        return Fit(Answer.NEVER, _cause_never(spec, ground.empty), largest=largest or None)
    if over := _over_quota(spec, ground):
        return Fit(Answer.LATER, Cause(CauseKind.QUOTA, over), largest=largest)
    if note:
        return Fit(Answer.UNKNOWN, note=note)
    if packing.best < spec.num_workers:
        return Fit(Answer.LATER, _capacity_cause(spec, ground, packing), largest=largest)
    if packing.worst < spec.num_workers:
        return Fit(Answer.UNKNOWN, note=ORDER, largest=largest)
    return Fit(Answer.NOW, largest=largest)


def _fit_of_roles(spec: WorkloadSpec, ground: Ground) -> Fit:
    """Judge a gang of named roles: whether each of them fits onto some node by itself."""
    if cause := _cause_of_unfit_role(spec, ground.empty):
        return Fit(Answer.NEVER, cause)
    if over := _over_quota(spec, ground):
        return Fit(Answer.LATER, Cause(CauseKind.QUOTA, over))
    return Fit(Answer.UNKNOWN, note=MIXED)


def apply_admission(fit: Fit, *, starts: bool, reason: Reason, message: str) -> Fit:
    """The judgement according to Trainyard's admission, on a cluster without a queue."""
    if starts:
        return replace(fit, answer=Answer.NOW, cause=None, note="")
    if fit.answer is Answer.NEVER:
        return fit
    if reason == Reason.WAITING_FOR_QUOTA:
        return replace(fit, answer=Answer.LATER, cause=Cause(CauseKind.QUOTA, message), note="")
    if reason == Reason.CLUSTER_UNAVAILABLE:
        cause = Cause(CauseKind.OTHER, message, precise_reason=reason)
        return replace(fit, answer=Answer.LATER, cause=cause, note="")
    evidence = fit.cause or Cause(CauseKind.CAPACITY, message)
    cause = Cause(CauseKind.CAPACITY, message, shares=evidence.shares, total=evidence.total)
    return replace(fit, answer=Answer.LATER, cause=cause, note="")


def workers_within_quota(spec: WorkloadSpec, ground: Ground, workers: int) -> int:
    """The number of ``workers`` that fit into the quotas."""

    def is_over_quota(count: int) -> bool:
        return bool(_over_quota(spec.model_copy(update={"num_workers": count}), ground))

    return bisect_left(range(1, workers + 1), True, key=is_over_quota)


def _over_quota(spec: WorkloadSpec, ground: Ground) -> str:
    accounts = ground.accounts.get(spec.first_pool, ())
    if not accounts:
        return ""
    demand = Demand.from_spec(spec, gpu_memory=ground.device_memory)
    for account in accounts:
        if over := account.excess(demand):
            return (
                f"It waits until other workloads end: together they ask for {over}, and "
                f"{account.owner_text} may not go over it."
            )
    return ""


def _reason_unknown(spec: WorkloadSpec, ground: Ground) -> str:
    names = [it.resource for role in roles(spec) for it in role.compute.extended_resources]
    if names:
        return DEVICES.format(", ".join(dict.fromkeys(names)))
    return UNSEEN if any(group.free is None for group in ground.groups) else ""


def _pack_gang(spec: WorkloadSpec, ground: Ground) -> Packing:
    asks = [Ask.of(role.compute, ground.device_memory) for role in roles(spec)]
    master = asks[1] if len(asks) > 1 else None
    keys = shared_labels(spec)
    if not keys:
        return pack(_spots(spec, ground), asks[0], master)
    parts = domains(ground.groups, keys)
    apart = [list(_spots(spec, replace(ground, groups=tuple(part)))) for part in parts]
    return pack_together(apart, asks[0], master)


def _spots(spec: WorkloadSpec, ground: Ground) -> Iterator[Spot]:
    worker, *masters = roles(spec)
    for traits, groups in ground.by_traits.items():
        for_worker = for_master = find_obstacle(traits, worker, spec.node_pools) is None
        if masters and masters[0] is not worker:
            for_master = find_obstacle(traits, masters[0], spec.node_pools) is None
        if for_worker or for_master:
            for group in groups:
                if group.free is not None:
                    yield Spot(group.nodes, group.free, for_worker, for_master)


def _capacity_cause(spec: WorkloadSpec, ground: Ground, packing: Packing) -> Cause:
    """The cause that the scheduler would report for the first pod that does not fit."""
    worker, *masters = roles(spec)
    role = masters[0] if masters and packing.best == NOWHERE else worker
    nodes_by_obstacle: Counter[Obstacle] = Counter()
    ask = Ask.of(role.compute, ground.device_memory)
    for traits, groups in ground.by_traits.items():
        if obstacle_here := find_obstacle(traits, role, spec.node_pools):
            nodes_by_obstacle[obstacle_here] += sum(group.nodes for group in groups)
            continue
        for group in groups:
            for shortage in _shortages(group, ask):
                nodes_by_obstacle[Obstacle(shortage)] += group.nodes
    if not nodes_by_obstacle:  # each domain by itself is too small, but not all of them together
        nodes_by_obstacle[Obstacle(AFFINITY)] = ground.nodes
    ordered = sorted(
        nodes_by_obstacle.items(), key=lambda it: (it[0].shortage.nearness, it[1]), reverse=True
    )
    first = ordered[0][0]
    return Cause(
        first.shortage.kind,
        first.shortage.title.format(first.name),
        first.shortage.todo.format(first.name),
        shares=tuple(Share(it.shortage.label.format(it.name), nodes) for it, nodes in ordered),
        total=ground.nodes,
    )


def _shortages(group: NodeGroup, ask: Ask) -> Iterator[Shortage]:
    """What a node lacks to fit one more pod."""
    if group.free is None:
        return
    left = group.free.without(ask, group.free.room(ask))
    for shortage, part in _single_requests(ask):
        if not left.room(part):
            yield shortage


def _single_requests(ask: Ask) -> Iterator[tuple[Shortage, Ask]]:
    if ask.devices:
        yield GPUS, Ask(0, 0, ask.devices, ask.portion)
    if ask.cpu:
        yield CPU, Ask(ask.cpu, 0)
    if ask.memory:
        yield MEMORY, Ask(0, ask.memory)


def _cause_never(spec: WorkloadSpec, ground: Ground) -> Cause:
    """The cause why a gang never fits on ``ground``, which is empty."""
    if cause := _cause_of_unfit_role(spec, ground):
        return cause
    workers = _pack_gang(spec, ground).best
    pods = 0 if workers == NOWHERE else workers + int(spec.has_master)
    where = f"within one {' and '.join(keys)} " if (keys := shared_labels(spec)) else ""
    return _never_unless(
        f"Even without other workloads, {pods} of its {spec.num_pods} pods fit {where}on "
        f"{ground.cluster}"
    )


def _cause_of_unfit_role(spec: WorkloadSpec, ground: Ground) -> Cause | None:
    """The cause why the pods of a role fit onto no node of ``ground``, which is empty; ``None`` if
    each role has such a node."""
    for role in roles(spec):
        possible = [
            it for it in ground.groups if find_obstacle(it.traits, role, spec.node_pools) is None
        ]
        if not possible:
            return _cause_no_node(role, spec, ground)
        ask = Ask.of(role.compute, ground.device_memory)
        if not any(group.whole.room(ask) for group in possible):
            if any(group.whole.room(ask) for group in _selected_groups(role, spec, ground)):
                return _cause_no_node(role, spec, ground)
            lacks = (
                " and ".join(_shortages_in_words(ask, possible)) or "everything it requests at once"
            )
            return _never_unless(f"No node {_nodes_in_words(spec, possible, ground)} has {lacks}")
    return None


def _cause_no_node(role: Replica, spec: WorkloadSpec, ground: Ground) -> Cause:
    """The cause if obstacles keep the pods of a role from each node on which they would fit."""
    ask = Ask.of(role.compute, ground.device_memory)
    selected = _selected_groups(role, spec, ground)
    # A node that only lacks a toleration is nearer than one of another type.
    nearest = [group for group in selected if group.whole.room(ask)] or selected
    obstacles_nearby = {find_obstacle(it.traits, role, spec.node_pools) for it in nearest}
    nodes_by_obstacle: Counter[Obstacle] = Counter()
    for group in ground.groups:
        if obstacle_here := find_obstacle(group.traits, role, spec.node_pools):
            nodes_by_obstacle[obstacle_here] += group.nodes
    ordered = sorted(
        nodes_by_obstacle.items(),
        key=lambda it: (it[0] in obstacles_nearby, it[0].shortage.nearness, it[1]),
        reverse=True,
    )
    first = ordered[0][0]
    title = first.shortage.title.format(first.name)
    instead = first.shortage.todo.format(first.name)
    shares = tuple(Share(it.shortage.label.format(it.name), nodes) for it, nodes in ordered)
    todo = instead if obstacles_nearby else f"{UNLESS} {instead}"
    return Cause(CauseKind.NODES, title, todo, shares=shares, total=ground.nodes)


def _selected_groups(role: Replica, spec: WorkloadSpec, ground: Ground) -> list[NodeGroup]:
    return [it for it in ground.groups if is_selected(it.traits, role, spec.node_pools)]


def _never_unless(title: str) -> Cause:
    todo = f"{UNLESS} Choose another compute resource or cluster, or {CLUSTER}."
    return Cause(CauseKind.NODES, title, todo)


def _nodes_in_words(spec: WorkloadSpec, possible: Sequence[NodeGroup], ground: Ground) -> str:
    if sum(group.nodes for group in possible) == ground.nodes:
        return f"of {ground.cluster}"
    if any(role.node_type or role.node_affinity_required for role in roles(spec)):
        return "of the requested pool or type"
    if pools := spec.node_pools:
        return f"of the node pool{'s' if len(pools) > 1 else ''} {', '.join(pools)}"
    return "that accepts it"


def _shortages_in_words(ask: Ask, groups: Sequence[NodeGroup]) -> Iterator[str]:
    """Requests that exceed what any node has, the scarcest first."""
    if ask.devices > (most := max(len(it.whole.devices) for it in groups)):
        yield f"{ask.devices} GPUs, the most is {most}" if most else "GPUs"
    if ask.cpu > (cores := max(it.whole.cpu for it in groups)):
        yield f"{ask.cpu:g} CPU cores, the most is {cores:g}"
    if ask.memory > (memory := max(it.whole.memory for it in groups)):
        yield f"{format_gib(ask.memory)} of memory, the most is {format_gib(memory)}"
