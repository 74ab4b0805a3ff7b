"""Would it start: a gang against the cluster as it is now, before it is there."""

from collections.abc import Iterable, Set
from dataclasses import dataclass

from clusters.models import Cluster
from projects.models import Project
from projects.quotas import accounts_of
from spec.workload import WorkloadSpec
from workloads.models import Workload
from workloads.scheduling import admission, capacity
from workloads.scheduling.admission import Verdict
from workloads.scheduling.fit.ground import ground_of, this_machine
from workloads.scheduling.fit.judge import Answer, Fit, Ground, admitted, judge
from workloads.scheduling.fit.repairs import ComputeChoice, Repair, RepairKind, repairs
from workloads.scheduling.fit.score import verdict_columns

MOST_TRIED = 50  # that wait on this machine, for each repair is tried among them
FEW = 4  # given to a cluster at a time, so that each can be judged alone


@dataclass(frozen=True)
class Foresight:
    """``ground`` is what ``fit`` was judged on; ``verdict`` what admission would say, where it
    decides."""

    fit: Fit
    ground: Ground
    verdict: Verdict | None = None


def look_ahead(cluster: Cluster, project: Project, spec: WorkloadSpec) -> Foresight:
    if cluster.capabilities.queues:
        ground = ground_of(cluster, spec, project)
        return Foresight(judge(spec, ground), ground)
    device_memory = cluster.gpu_memory if spec.asks_gpu_memory else 0
    there = capacity.occupying(cluster)
    room = capacity.free(cluster, there)
    verdict = admission.foresee(cluster, project, spec, there)
    ground = this_machine(cluster, room, accounts_of([project])[project.pk], device_memory)
    fit = admitted(
        judge(spec, ground),
        starts=verdict.starts,
        reason=verdict.reason,
        message=verdict.message,
    )
    return Foresight(fit, ground, verdict)


def repairs_that_hold(
    cluster: Cluster,
    project: Project,
    spec: WorkloadSpec,
    ahead: Foresight,
    choices: Iterable[ComputeChoice] = (),
    *,
    without: Set[RepairKind] = frozenset(),
) -> list[Repair]:
    """Where Trainyard decides, what fits may still wait behind others; none are tried among many,
    which takes too long."""
    offered = repairs(spec, ahead.ground, ahead.fit, choices, without=without)
    if cluster.capabilities.queues or not offered:
        return offered
    if not can_try(cluster):
        return []
    there = capacity.occupying(cluster)
    return [
        repair
        for repair in offered
        if repair.answer is not Answer.NOW
        or admission.foresee(cluster, project, repair.spec, there).starts
    ]


def can_try(cluster: Cluster) -> bool:
    if cluster.capabilities.queues:
        return True
    return Workload.objects.waiting().filter(cluster=cluster).count() <= MOST_TRIED


def judge_unasked(cluster: Cluster, workloads: Iterable[Workload]) -> None:
    """Foresee what programs submitted, just before it is given to its cluster. Many at once are
    not judged: each would have to wait for the others."""
    unasked = [it for it in workloads if it.run == 1 and not it.verdict]
    if len(unasked) > FEW:
        return
    for workload in unasked:
        fit = look_ahead(cluster, workload.project, workload.spec).fit
        Workload.objects.filter(pk=workload.pk, verdict="").update(**verdict_columns(fit))
