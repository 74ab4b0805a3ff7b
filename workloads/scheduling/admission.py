"""Admission on clusters without a queue of their own: decide who may start.

The decisions are made in ``order.decide``; this module applies them to rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from clusters.models import Cluster
from engines.preparation import Preparation
from projects.models import Project
from spec.phases import Phase, Reason
from spec.problems.errors import SpecError
from spec.workload import WorkloadSpec
from workloads import enqueue
from workloads.history import events
from workloads.models import Rank, Workload
from workloads.scheduling import capacity, contenders, front, requeue
from workloads.scheduling.limits import rule_limits
from workloads.scheduling.order import decisions
from workloads.scheduling.order.decide import decide
from workloads.scheduling.order.records import Contender, Decision, DecisionKind
from workloads.scheduling.placement import Placement

WAITS = (Reason.WAITING_FOR_CAPACITY, Reason.WAITING_FOR_QUOTA)


@dataclass(frozen=True)
class Verdict:
    """Whether a gang may start now; if not, ``message`` says why, for people."""

    starts: bool
    reason: Reason = Reason.NONE
    message: str = ""
    placement: Placement | None = None


def admit_waiting(cluster: Cluster) -> int:
    """Start every waiting gang that may start; returns how many. Safe to run twice, and in
    parallel."""
    if cluster.capabilities.queues:
        return 0
    with transaction.atomic():
        # One admission at a time: two that read the same free room would both give it away.
        Cluster.objects.select_for_update().get(pk=cluster.pk)
        if (preparation := cluster.definition.preparation(cluster)) and not preparation.is_ready:
            _wait_for_preparation(cluster, preparation)
            return 0
        started = 0
        while waiting := front.workloads_to_judge(cluster):
            more = _admit(cluster, waiting)
            started += more
            if more < front.MAX_PER_LINE:  # no line was read to its end
                break
        return started


def predict_start(
    cluster: Cluster, project: Project, spec: WorkloadSpec, occupants: Sequence[Workload]
) -> Verdict:
    """Whether a new gang of the project would start now, given the workloads ``there`` and those
    that wait already."""
    preparation = cluster.definition.preparation(cluster)
    if preparation and not preparation.is_ready:
        return Verdict(False, Reason.CLUSTER_UNAVAILABLE, preparation.wait_message)
    limits = rule_limits.columns_at_submission(project, spec, gpus=0)
    draft = Workload(name="", project=project, cluster=cluster, queued_at=timezone.now(), **limits)
    newcomer = contenders.contender(draft, spec, cluster.gpu_memory)
    queue = [it for it in front.workloads_to_judge(cluster) if not it.spec_fault]
    ahead = [contenders.contender(it, it.spec, cluster.gpu_memory) for it in queue]
    decisions = _decide(cluster, [*ahead, newcomer], occupants)
    (decision,) = (it for it in decisions if it.gang is newcomer)
    if decision.kind is DecisionKind.START:
        return Verdict(True, placement=decision.placement)
    return Verdict(False, decision.reason, decision.why)


def start_order(cluster: Cluster) -> Iterator[UUID]:
    """Ids of waiting workloads in the order in which they would start."""
    waiting = Workload.objects.waiting().filter(cluster=cluster)
    queue = [it for it in waiting.select_related("project__department") if not it.spec_fault]
    ahead = [contenders.contender(it, it.spec, cluster.gpu_memory) for it in queue]
    for decision in _decide(cluster, ahead, capacity.occupying_workloads(cluster)):
        if decision.kind is not DecisionKind.PREEMPT:
            yield UUID(decision.gang.key)


def _wait_for_preparation(cluster: Cluster, preparation: Preparation) -> None:
    for workload in Workload.objects.waiting().filter(cluster=cluster):
        if workload.reason != Reason.PREEMPTED:  # its page says that it was preempted
            _keep_waiting(workload, Reason.CLUSTER_UNAVAILABLE, preparation.wait_message)


def _admit(cluster: Cluster, waiting: list[Workload]) -> int:
    occupants = capacity.occupying_workloads(cluster)
    rows = {str(workload.pk): workload for workload in [*waiting, *occupants]}
    decided = _decide(cluster, _contenders(waiting, cluster.gpu_memory), occupants)
    applied = [
        (workload, decision)
        for decision in decided
        if _apply_decision(workload := rows[decision.gang.key], decision)
    ]
    _explain_lines(cluster, waiting)
    last = decisions.last_decisions([workload for workload, _ in applied])
    news = [each for each in applied if decisions.is_news(last.get(each[0].pk), each[1])]
    decisions.store_decisions(cluster, news)
    return sum(decision.kind is DecisionKind.START for _, decision in applied)


def _explain_lines(cluster: Cluster, judged: list[Workload]) -> None:
    """Say on workloads behind the judged ones that they wait for these."""
    reasons = {it.project_id: it.reason for it in judged if it.reason in WAITS}
    for workload in front.unexplained(cluster, [it.pk for it in judged]):
        reason = reasons.get(workload.project_id, Reason.WAITING_FOR_CAPACITY)
        _keep_waiting(workload, Reason(reason), front.BEHIND)


def _decide(
    cluster: Cluster, queue: Sequence[Contender], occupants: Sequence[Workload]
) -> list[Decision]:
    return decide(
        queue,
        [contenders.tenant(workload, cluster.gpu_memory) for workload in occupants],
        capacity.total_room(cluster),
        contenders.allowances(cluster),
        now=timezone.now().timestamp(),
    )


def _contenders(waiting: list[Workload], device_memory: int) -> list[Contender]:
    """The waiting workloads as contenders. One with an unreadable spec keeps waiting, and
    says so."""
    queue = []
    for workload in waiting:
        try:
            queue.append(contenders.contender(workload, workload.spec, device_memory))
        except SpecError as error:
            message = f"Its spec is no longer valid: {error}. Copy & edit starts it again."
            if workload.reason != Reason.PREEMPTED:
                _keep_waiting(workload, Reason.REFUSED, message)
    return queue


def _apply_decision(workload: Workload, decision: Decision) -> bool:
    """Apply a decision; returns whether anything changed."""
    if decision.kind is DecisionKind.START:
        return _start(workload, decision.placement, decision.why)
    if decision.kind is DecisionKind.PREEMPT:
        return requeue.preempt(workload, decision.why)
    if workload.reason == Reason.PREEMPTED:  # its page says that it was preempted
        return True
    return _keep_waiting(workload, decision.reason, decision.why)


def _start(workload: Workload, placement: Placement, why: str) -> bool:
    if not workload.move(Phase.INITIALIZING):
        return False
    ranks = list(workload.ranks.all())
    for rank in ranks:
        rank.gpu_devices = list(placement.get(rank.rank, ()))
    Rank.objects.bulk_update(ranks, ["gpu_devices"], batch_size=500)
    events.record_phase(workload, message=f"Admitted: all ranks fit. {why}")
    enqueue.launch(workload.pk)
    return True


def _keep_waiting(workload: Workload, reason: Reason, message: str) -> bool:
    """Store why a workload waits, with an event for each change of cause; returns whether it
    changed."""
    if (workload.reason, workload.message) == (reason, message):
        return False
    changed_cause = workload.reason != reason
    # Guarded: it may have been stopped meanwhile, and then keeps that reason.
    Workload.objects.filter(pk=workload.pk, phase=Phase.PENDING).update(
        reason=reason, message=message
    )
    workload.reason = reason
    workload.message = message
    if changed_cause:
        events.record_phase(workload, reason=reason, message=message)
    events.announce(workload)
    return True
