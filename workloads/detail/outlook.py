"""The outlook of a waiting gang: its place in the queue, who holds the GPUs it needs, and what
would start now instead."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from accounts.models import User
from spec.phases import WAITING
from workloads.models import Rank, Workload
from workloads.scheduling.fit.foresight import can_try, look_ahead, repairs_that_hold
from workloads.scheduling.fit.judge import Answer
from workloads.scheduling.fit.repairs import Repair
from workloads.scheduling.fit.words import largest_in_words
from workloads.scheduling.line import GpuHolders, QueuePlace, gpu_holders, queue_place


@dataclass(frozen=True)
class Outlook:
    """The outlook. ``repairs`` are changes that would let a copy start now. ``largest`` is the
    largest size that would fit, in words; it is empty if unknown. ``waits_too``: even a copy of
    that size would wait behind others."""

    place: QueuePlace | None
    holders: GpuHolders | None
    largest: str = ""
    repairs: list[Repair] = field(default_factory=list)
    waits_too: bool = False


def outlook(workload: Workload, ranks: Iterable[Rank], user: User) -> Outlook | None:
    """The outlook for a workload; ``None`` if it does not wait."""
    if workload.phase not in WAITING or workload.spec_fault:
        return None
    place = queue_place(workload, user)
    holders = gpu_holders(workload, user)
    placed = any(rank.node for rank in ranks)  # its own pods would count as someone else's
    if placed or not can_try(workload.cluster):
        return Outlook(place, holders)
    spec = workload.spec
    cluster = workload.cluster
    project = workload.project
    ahead = look_ahead(cluster, project, spec)
    if ahead.fit.largest is None or ahead.fit.answer is Answer.NOW:
        return Outlook(place, holders)
    changes = repairs_that_hold(cluster, project, spec, ahead)
    starting = [repair for repair in changes if repair.answer is Answer.NOW]
    waits_too = bool(ahead.fit.largest) and not starting and not cluster.capabilities.queues
    return Outlook(place, holders, largest_in_words(ahead.fit, spec), starting, waits_too)
