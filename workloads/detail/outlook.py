"""The outlook of a waiting workload: its position in the queue, who holds the GPUs that it needs,
and what would start now instead."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from accounts.models import User
from spec.phases import WAITING
from workloads.models import Rank, Workload
from workloads.scheduling.fit.foresight import can_try_repairs, predict, working_repairs
from workloads.scheduling.fit.judge import Answer
from workloads.scheduling.fit.repairs import Repair
from workloads.scheduling.fit.words import largest_in_words
from workloads.scheduling.queue_places import GpuHolders, QueuePlace, gpu_holders, queue_place


@dataclass(frozen=True)
class Outlook:
    """The outlook of a workload.

    ``repairs`` are changes with which a copy would start now. ``largest`` is the largest size that
    would fit, in words; it is empty if unknown. ``copy_waits`` says that even a copy of that size
    would wait behind others.
    """

    queue_place: QueuePlace | None
    holders: GpuHolders | None
    largest: str = ""
    repairs: list[Repair] = field(default_factory=list)
    copy_waits: bool = False


def read_outlook(workload: Workload, ranks: Iterable[Rank], user: User) -> Outlook | None:
    """Return the outlook of a workload; ``None`` if it does not wait."""
    if workload.phase not in WAITING or workload.spec_fault:
        return None
    position = queue_place(workload, user)
    holders = gpu_holders(workload, user)
    # A forecast would count the pods of this workload as somebody else's.
    has_pods = any(rank.node for rank in ranks)
    if has_pods or not can_try_repairs(workload.cluster):
        return Outlook(position, holders)
    spec = workload.spec
    cluster = workload.cluster
    project = workload.project
    foresight = predict(cluster, project, spec)
    if foresight.fit.largest is None or foresight.fit.answer is Answer.NOW:
        return Outlook(position, holders)
    repairs = working_repairs(cluster, project, spec, foresight)
    immediate = [repair for repair in repairs if repair.answer is Answer.NOW]
    fits_smaller = bool(foresight.fit.largest)
    return Outlook(
        position,
        holders,
        largest=largest_in_words(foresight.fit, spec),
        repairs=immediate,
        copy_waits=fits_smaller and not immediate and not cluster.capabilities.queues,
    )
