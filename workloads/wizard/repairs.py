"""Offer and apply repairs: changes of the draft that let it start, which the summary shows as
buttons."""

from collections.abc import Iterator
from uuid import UUID

from accounts.models import User
from assets.kinds import KINDS
from spec.draft import WorkloadDraft
from spec.formats.stored import document_fault
from spec.parts.compute import Compute
from workloads.models import Draft
from workloads.plan import Plan, plan
from workloads.scheduling.fit.foresight import Foresight, working_repairs
from workloads.scheduling.fit.repairs import (
    ComputeChoice,
    Repair,
    RepairKind,
    variants,
)
from workloads.wizard import drafts
from workloads.wizard.sections.base import choose_asset

COMPUTE = "compute"
#: The fields that each kind of repair changes, see ``apply``.
CHANGED_FIELDS = {
    RepairKind.WORKERS: ("numWorkers",),
    RepairKind.SHAPE: ("numWorkers", "worker.compute"),
    RepairKind.POOL: ("nodePools",),
    RepairKind.TYPE: ("worker.nodeType", "master.nodeType"),
    RepairKind.COMPUTE: ("worker.compute",),
}
MOST_CHOICES = 200  # compute resources tried for a repair


def offer_repairs(planned: Plan, by: User) -> list[Repair]:
    """Return the repairs that let the plan start. There are none if it would start anyway, or if
    there is no forecast."""
    spec = planned.spec
    cluster = planned.cluster
    project = planned.project
    if not (spec and cluster and project and planned.ground and planned.fit):
        return []
    foresight = Foresight(planned.fit, planned.ground)
    choices = _compute_choices(planned, by)
    locked_kinds = _locked_kinds(planned)
    return working_repairs(cluster, project, spec, foresight, choices, without=locked_kinds)


def find_repair(planned: Plan, name: str, by: User) -> Repair | None:
    """Return the repair of this name; ``None`` if the draft no longer needs it."""
    if not (planned.spec and planned.ground and planned.fit):
        return None
    choices = _compute_choices(planned, by)
    without = _locked_kinds(planned)
    possible = variants(planned.spec, planned.ground, planned.fit, choices, without=without)
    return next((repair for repair in possible if repair.change == name), None)


def _locked_kinds(planned: Plan) -> set[RepairKind]:
    """Return the kinds of repair that would change a field which the draft's template or a policy
    locks."""
    rulings = [*planned.rulings.items(), *planned.policy_rulings.items()]
    locked_paths = [path for path, ruling in rulings if ruling.locked]
    kinds = set()
    for kind, fields in CHANGED_FIELDS.items():
        for path in locked_paths:
            if any(path == field or path.startswith(f"{field}.") for field in fields):
                kinds.add(kind)
    return kinds


def apply_to_draft(draft: Draft, name: str, *, by: User) -> None:
    """Apply the repair of this name to the draft, or do nothing if it no longer helps."""

    def change(content: WorkloadDraft) -> set[str]:
        repair = find_repair(plan(content, by=by), name, by)
        return apply_to_content(content, repair) if repair else set()

    drafts.edit(draft, change, touch=True)


def _compute_choices(planned: Plan, by: User) -> Iterator[ComputeChoice]:
    """Yield the compute resources that could replace the chosen one. A generator reads them only
    when they are used, because few plans need them."""
    kind = KINDS[COMPUTE]
    if planned.project is None:
        return
    for asset in kind.rows.visible_to(by).usable_in(planned.project)[:MOST_CHOICES]:
        if not document_fault(Compute, asset.spec_json):
            yield ComputeChoice(str(asset.pk), asset.name, asset.spec)


def apply_to_content(content: WorkloadDraft, repair: Repair) -> set[str]:
    """Write the repair into the draft, and return the names of the questions it answers."""
    spec = repair.spec
    worker = content.worker
    match repair.kind:
        case RepairKind.WORKERS:
            content.values["numWorkers"] = spec.num_workers
            return {"numWorkers"}
        case RepairKind.SHAPE:
            content.values["numWorkers"] = spec.num_workers
            choose_asset(worker, KINDS[COMPUTE], None)
            worker.values["compute"] = spec.worker.compute.model_dump(
                mode="json", by_alias=True, exclude_none=True
            )
            return {"numWorkers", "worker-compute"}
        case RepairKind.POOL:
            content.values["nodePools"] = list(spec.node_pools)
            return {"nodePools"}
        case RepairKind.TYPE:
            for replica in content.replicas.values():
                replica.values["nodeType"] = spec.worker.node_type
            return {f"{role}-nodeType" for role in content.replicas}
        case RepairKind.COMPUTE:
            choose_asset(worker, KINDS[COMPUTE], UUID(repair.value))
            return {"worker-compute"}
