"""Predict whether a gang would start on its cluster now, before it is submitted."""

from collections.abc import Iterable, Set
from dataclasses import dataclass

from clusters.models import Cluster
from projects.models import Project
from projects.quotas import strict_quotas_of
from spec.workload import WorkloadSpec
from workloads.models import Workload
from workloads.scheduling import admission, capacity
from workloads.scheduling.admission import Verdict
from workloads.scheduling.fit.ground import supply_of_cluster, supply_of_machine
from workloads.scheduling.fit.judge import Answer, Fit, Ground, apply_admission, predict_fit
from workloads.scheduling.fit.repairs import ComputeChoice, Repair, RepairKind, find_repairs
from workloads.scheduling.fit.score import verdict_columns

MAX_TRIED = 50  # waiting workloads among which repairs are tried on this machine
MAX_JUDGED = 4  # submitted at a time, so that each can be judged by itself


@dataclass(frozen=True)
class Foresight:
    """A prediction. ``ground`` is what ``fit`` was judged on; ``verdict`` is admission's, on
    clusters where it decides."""

    fit: Fit
    ground: Ground
    verdict: Verdict | None = None


def predict(cluster: Cluster, project: Project, spec: WorkloadSpec) -> Foresight:
    if cluster.capabilities.queues:
        ground = supply_of_cluster(cluster, spec, project)
        return Foresight(predict_fit(spec, ground), ground)
    device_memory = cluster.gpu_memory if spec.depends_on_gpu_memory else 0
    there = capacity.occupying_workloads(cluster)
    room = capacity.free_room(cluster, there)
    verdict = admission.predict_start(cluster, project, spec, there)
    ground = supply_of_machine(
        cluster, room, strict_quotas_of([project])[project.pk], device_memory
    )
    fit = apply_admission(
        predict_fit(spec, ground),
        starts=verdict.starts,
        reason=verdict.reason,
        message=verdict.message,
    )
    return Foresight(fit, ground, verdict)


def working_repairs(
    cluster: Cluster,
    project: Project,
    spec: WorkloadSpec,
    ahead: Foresight,
    choices: Iterable[ComputeChoice] = (),
    *,
    without: Set[RepairKind] = frozenset(),
) -> list[Repair]:
    """Repairs that let the gang start. On clusters with admission a repair that fits may still wait
    behind others, so each is tried there; among many waiting workloads none is, because that takes
    too long."""
    offered = find_repairs(spec, ahead.ground, ahead.fit, choices, without=without)
    if cluster.capabilities.queues or not offered:
        return offered
    if not can_try_repairs(cluster):
        return []
    there = capacity.occupying_workloads(cluster)
    return [
        repair
        for repair in offered
        if repair.answer is not Answer.NOW
        or admission.predict_start(cluster, project, repair.spec, there).starts
    ]


def can_try_repairs(cluster: Cluster) -> bool:
    if cluster.capabilities.queues:
        return True
    return Workload.objects.waiting().filter(cluster=cluster).count() <= MAX_TRIED


def store_missing_verdicts(cluster: Cluster, workloads: Iterable[Workload]) -> None:
    """Predict for workloads that programs submitted, just before they go to their cluster. Many at
    once are not judged, because each would have to wait for the others."""
    unasked = [it for it in workloads if it.run == 1 and not it.verdict]
    if len(unasked) > MAX_JUDGED:
        return
    for workload in unasked:
        fit = predict(cluster, workload.project, workload.spec).fit
        Workload.objects.filter(pk=workload.pk, verdict="").update(**verdict_columns(fit))
