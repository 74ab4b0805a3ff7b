"""What would start now in place of a gang that waits: for the page that says why it does."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from spec.phases import WAITING
from workloads.models import Rank, Workload
from workloads.scheduling.fit.ground import ground_of
from workloads.scheduling.fit.judge import Answer, judge
from workloads.scheduling.fit.repairs import Repair, repairs
from workloads.scheduling.fit.words import largest_in_words


@dataclass(frozen=True)
class Outlook:
    """``repairs`` are changes with which a copy would start."""

    largest: str
    repairs: list[Repair] = field(default_factory=list)


def outlook(workload: Workload, ranks: Iterable[Rank]) -> Outlook | None:
    """``None`` where a copy would wait behind it, or where its own pods hold some of the nodes."""
    queues = workload.cluster.capabilities.queues
    placed = any(rank.node for rank in ranks)
    if workload.phase not in WAITING or not queues or placed or workload.spec_fault:
        return None
    spec = workload.spec
    ground = ground_of(workload.cluster, spec, workload.project)
    fit = judge(spec, ground)
    if fit.largest is None or fit.answer is Answer.NOW:
        return None
    changes = [it for it in repairs(spec, ground, fit) if it.answer is Answer.NOW]
    return Outlook(largest_in_words(fit, spec), changes)
