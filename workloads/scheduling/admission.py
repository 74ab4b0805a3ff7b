"""Who may start, on clusters that have no queue of their own.

First come, first served, and a gang starts whole or not at all. A quota keeps back only
its own project or department; when the machine itself is full, nobody overtakes, so that a large
gang is not starved.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction

from clusters.models import Cluster
from projects.quotas import Account, Demand, accounts_of
from spec.errors import SpecError
from spec.phases import Phase, Reason
from spec.workload import WorkloadSpec
from workloads import enqueue, events
from workloads.models import Rank, Workload
from workloads.scheduling import capacity
from workloads.scheduling.placement import Placement, Room, blockers, place


@dataclass(frozen=True)
class Verdict:
    """Whether a gang may start now. ``message`` is for people and says why not."""

    starts: bool
    reason: Reason = Reason.NONE
    message: str = ""
    placement: Placement | None = None


def admit(cluster: Cluster) -> int:
    """Start every waiting gang that may; returns how many. Safe to run twice and at once."""
    if cluster.capabilities.queues:
        return 0
    with transaction.atomic():
        Cluster.objects.select_for_update().get(pk=cluster.pk)  # one admission at a time
        waiting = Workload.objects.waiting().filter(cluster=cluster)
        waiting = waiting.select_related("project__department")
        return _admit(cluster, list(waiting)) if waiting else 0


def _admit(cluster: Cluster, waiting: list[Workload]) -> int:
    room, device_memory, admitted = capacity.free(cluster), cluster.gpu_memory, 0
    accounts = accounts_of({workload.project for workload in waiting})
    full: Verdict | None = None
    for workload in waiting:
        try:
            spec = workload.spec
        except SpecError as error:
            message = f"Its spec is no longer valid: {error}. Copy & edit starts it again."
            _keep_waiting(workload, Verdict(False, Reason.REFUSED, message))
            continue
        demand = Demand.of(spec, gpu_memory=device_memory)
        quotas = accounts[workload.project_id]
        verdict = full or judge(spec, demand, quotas, room, device_memory)
        placement = verdict.placement or {}
        if verdict.starts and _start(workload, placement):
            for account in quotas:
                account.held += demand
            capacity.occupy(room, spec, placement, device_memory)
            admitted += 1
        elif not verdict.starts:
            _keep_waiting(workload, verdict)
            if verdict.reason == Reason.WAITING_FOR_CAPACITY:
                full = full or _behind(workload)
    return admitted


def judge(
    spec: WorkloadSpec,
    demand: Demand,
    accounts: Iterable[Account],
    room: Room,
    device_memory: int,
) -> Verdict:
    """Quotas first, then room. Pure."""
    for account in accounts:
        if over := account.excess(demand):
            message = (
                f"With it, {account.whose} would hold {over}. It starts when other workloads end."
            )
            return Verdict(False, Reason.WAITING_FOR_QUOTA, message)
    placement = place(spec, room, device_memory=device_memory)
    if placement is None:
        why = "; ".join(blockers(spec, room, device_memory=device_memory))
        return Verdict(False, Reason.WAITING_FOR_CAPACITY, f"Not enough free capacity: {why}.")
    return Verdict(True, placement=placement)


def _behind(workload: Workload) -> Verdict:
    return Verdict(
        False,
        Reason.WAITING_FOR_CAPACITY,
        f"Waiting behind {workload.name}, which is ahead of it and does not fit yet.",
    )


def _start(workload: Workload, placement: Placement) -> bool:
    if not workload.move(Phase.INITIALIZING):
        return False
    ranks = list(workload.ranks.all())
    for rank in ranks:
        rank.gpu_devices = list(placement.get(rank.rank, ()))
    Rank.objects.bulk_update(ranks, ["gpu_devices"], batch_size=500)
    events.phase(workload, message="Admitted: all ranks fit.")
    enqueue.launch(workload.pk)
    return True


def _keep_waiting(workload: Workload, verdict: Verdict) -> None:
    """Write down why it waits, once for each change of cause."""
    if (workload.reason, workload.message) == (verdict.reason, verdict.message):
        return
    changed_cause = workload.reason != verdict.reason
    Workload.objects.filter(pk=workload.pk, phase=Phase.PENDING).update(
        reason=verdict.reason, message=verdict.message
    )
    workload.reason, workload.message = verdict.reason, verdict.message
    if changed_cause:
        events.phase(workload, reason=verdict.reason, message=verdict.message)
    events.announce(workload)
