"""Predict whether a gang would start on its cluster now, before it is submitted."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, replace
from uuid import UUID

from clusters.connections import complaints, never_starts, waits_for
from clusters.models import Cluster
from engines.base import Handle
from projects.models import Project
from projects.quotas import Demand, StrictQuota, owner_in_pool, quota_of, strict_quotas_of
from projects.rules import node_types_of
from spec.problems.causes import Cause, CauseKind
from spec.workload import WorkloadSpec
from workloads.models import Workload
from workloads.scheduling import admission, capacity
from workloads.scheduling.admission import Verdict
from workloads.scheduling.fit.ground import supply_of_cluster, supply_of_machine
from workloads.scheduling.fit.judge import Answer, Fit, Ground, apply_admission, predict_fit
from workloads.scheduling.fit.repairs import ComputeChoice, Repair, RepairKind, find_repairs
from workloads.scheduling.fit.score import verdict_columns

MAX_TRIED = 50  # waiting workloads among which repairs are tried on this machine
#: Causes that only a new object ends, such as a claim.
WAITS_FOR_OBJECT = {CauseKind.STORAGE, CauseKind.MISSING}
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
        fit = _within_limits(cluster, project, spec, predict_fit(spec, ground))
        fit = _within_guarantee(project, spec, fit, ground)
        return Foresight(_after_missing_objects(cluster, project, spec, fit), ground)
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


def _within_limits(cluster: Cluster, project: Project, spec: WorkloadSpec, fit: Fit) -> Fit:
    """Return the judgement with the cluster's own limits, which its nodes do not show."""
    handle = _unsaved_handle(project)
    cause = never_starts(cluster, handle, spec)
    largest = fit.largest
    if largest:

        def is_too_large(workers: int) -> bool:
            other = spec.model_copy(update={"num_workers": workers})
            return never_starts(cluster, handle, other) is not None

        # The first number of workers that is too large has as many before it as still start.
        numbers_of_workers = range(1, largest + 1)
        largest = bisect_left(numbers_of_workers, True, key=is_too_large)
    if cause is None:
        return replace(fit, largest=largest)
    if fit.answer is Answer.NEVER:
        return replace(fit, largest=largest or None)
    return Fit(Answer.NEVER, cause, largest=largest or None)


def _within_guarantee(project: Project, spec: WorkloadSpec, fit: Fit, ground: Ground) -> Fit:
    """Return the judgement where queues enforce quotas: what is never taken back of a gang has to
    fit into the quota of its project."""
    part = spec.guaranteed_part
    if part is None or fit.answer is Answer.NEVER or not project.cluster.capabilities.quotas:
        return fit
    pool = spec.first_pool
    owner = owner_in_pool(project, pool)
    account = StrictQuota("project", owner, quota_of(project, pool), Demand())
    over = account.excess(Demand.from_spec(part, gpu_memory=ground.device_memory))
    if not over:
        return fit
    what = "It is" if part is spec else f"Its minimum of {part.num_workers} workers is"
    title = f"{what} never taken back, so it has to fit into the quota of {owner}: {over}"
    cause = Cause(CauseKind.QUOTA, title, "Ask for less, or make it preemptible.")
    return Fit(Answer.NEVER, cause)


def _unsaved_handle(project: Project) -> Handle:
    return Handle(UUID(int=0), "", project.name)


def _after_missing_objects(cluster: Cluster, project: Project, spec: WorkloadSpec, fit: Fit) -> Fit:
    """Return the judgement of a gang that waits for an object first, if one is missing."""
    if fit.answer in {Answer.NEVER, Answer.LATER}:
        return fit
    cause = waits_for(cluster, _unsaved_handle(project), spec)
    return Fit(Answer.LATER, cause) if cause else fit


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
    too long. A batch script and named roles say themselves what they ask for, so they have none,
    and another shape does not create what is missing."""
    cause = ahead.fit.cause
    if spec.batch_script or spec.roles or (cause and cause.kind in WAITS_FOR_OBJECT):
        return []
    offered = find_repairs(
        spec,
        ahead.ground,
        ahead.fit,
        choices,
        without=without,
        is_refused=_refusal_test(cluster, project, spec),
    )
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


def _refusal_test(
    cluster: Cluster, project: Project, spec: WorkloadSpec
) -> Callable[[WorkloadSpec], bool]:
    """Return a function that says whether the cluster or a scheduling rule would refuse a changed
    spec for its change, or the cluster would never start it."""
    handle = _unsaved_handle(project)
    before = set(complaints(cluster, handle, spec))
    rule = node_types_of(project, spec.kind.traits)

    def is_refused(changed: WorkloadSpec) -> bool:
        if rule and changed.worker.node_type not in rule.types:
            return True
        if any(it not in before for it in complaints(cluster, handle, changed)):
            return True
        return never_starts(cluster, handle, changed) is not None

    return is_refused


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
