"""What people can do with workloads. Each verb is a function: a transaction, an event, then the
task."""

import uuid
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts import access
from accounts.models import User
from assets import services as assets
from assets.base import AssetKind
from assets.compute.kind import COMPUTE
from assets.environment.kind import ENVIRONMENT
from assets.models import Template
from assets.template.kind import TEMPLATE
from audit import services as audit
from audit.words import Verb
from projects.quotas import Demand
from projects.scopes import OwningScope
from spec.draft import ReplicaDraft, WorkloadDraft, write_role
from spec.formats.stored import as_mapping, value_at
from spec.phases import TERMINAL, Phase, Reason
from spec.problems.errors import Problem, SpecError, parse_path
from workloads import enqueue, logs, submission
from workloads.history import events
from workloads.models import Attempt, Draft, Source, Workload
from workloads.plan import Plan, add_contested_problems, plan
from workloads.scheduling.limits import rule_limits, time_limits
from workloads.scheduling.quota import find_pools, lock_and_choose_pool
from workloads.scheduling.requeue import start_ranks_afresh

MOST_AT_ONCE = 200
WORKLOADS_PER_TRANSACTION = 100  # workloads in one transaction
#: The columns that a move looks at, or that say afterwards why there was none.
MOVED_COLUMNS = (
    "phase",
    "reason",
    "message",
    "phase_updated_at",
    "run",
    "started_at",
    "deleted_at",
    "running_seconds",
)
#: The columns of an ended workload that do not hold for one that runs again.
NOT_ENDED: dict[str, Any] = {
    "completed_at": None,
    "auto_delete_at": None,
    "failure_class": "",
    "failure_line": {},
}


class NotPossible(Exception):
    """The workload's phase does not allow the request; the message says what would."""


def submit(
    draft: WorkloadDraft,
    *,
    by: User,
    source: Source = Source.FORM,
    draft_id: uuid.UUID | None = None,
    copied_from: Workload | None = None,
    planned: Plan | None = None,
    manifest: dict[str, Any] | None = None,
) -> Workload:
    """Create a workload from a draft and send it on its way. ``SpecError`` carries every problem.

    It is idempotent by ``draft_id``, so a double click submits once. ``planned`` is a plan of the
    draft, if the caller has one; ``manifest`` is the Kubernetes manifest that the draft was read
    from.
    """
    earlier = Workload.objects.filter(draft_id=draft_id).first() if draft_id else None
    if earlier:
        return earlier
    planned = planned or plan(draft, by=by, submits=True)
    origin = {"draft_id": draft_id, "copied_from": copied_from, "manifest_json": manifest}
    try:
        ready = planned.require_ready()
        with transaction.atomic():
            # The lock on the quota is held until the commit, so two submissions cannot both take
            # the last GPU.
            choice = lock_and_choose_pool(ready.project, ready.demand, ready.spec.node_pools)
            if choice.refusal:
                raise SpecError([Problem(ready.spec.demand_path, choice.refusal)])
            (workload,) = submission.create(
                [planned], [choice.pool], by=by, source=source, **origin
            )
            if draft_id:
                Draft.objects.filter(pk=draft_id, owner=by).delete()
    except (IntegrityError, SpecError) as error:
        # The draft has problems, or another submission was quicker: with the same draft, its name
        # or the quota.
        earlier = Workload.objects.filter(draft_id=draft_id).first() if draft_id else None
        if earlier:
            return earlier
        _raise_all_problems(planned, error, by)
        raise
    return workload


def _raise_all_problems(planned: Plan, error: Exception, by: User) -> None:
    """Raise ``SpecError`` with every problem. After a lost race, such as for the name, more may
    have changed, so the draft is planned again."""
    if isinstance(error, IntegrityError):
        access.forget_rules(by)
        planned = plan(planned.draft, by=by)
    add_contested_problems(planned)
    planned.require_ready()


def _lock_and_reload(workload: Workload) -> None:
    """Lock the row until the transaction ends, and reload it: whether a verb is possible then
    depends on the present phase, not on the one that the page showed."""
    workload.refresh_from_db(from_queryset=Workload.objects.select_for_update())


Refusals = dict[uuid.UUID, NotPossible | PermissionDenied]


def stop(workload: Workload, *, by: User) -> None:
    """Ask every rank to end; the workload can run again later. ``NotPossible`` if nothing runs."""
    for refusal in stop_all([workload], by=by).values():
        raise refusal


def stop_all(workloads: Sequence[Workload], *, by: User) -> Refusals:
    """Stop many; each is stopped or refused on its own. Returns why, by id, for those refused."""
    allowed, refused = _split_by_permission(workloads, "workloads.update", by)
    for batch in _batches(allowed):
        with transaction.atomic():
            moved = _move_all(
                batch, Phase.STOPPING, reason=Reason.STOPPED_BY_USER, by=by, verb="stop"
            )
            enqueue.stop(*(workload.pk for workload in moved))
        for workload in batch:
            if workload not in moved:
                message = f"{workload.name} is {workload.phase}; there is nothing to stop."
                refused[workload.pk] = NotPossible(message)
    return refused


def _move_all(
    workloads: Sequence[Workload], to: Phase, *, reason: Reason, by: User | None, verb: Verb
) -> list[Workload]:
    """Move and return the workloads whose present phase allows it, each with its event and, if
    there is a user, its entry in the audit log. The others have been reloaded.

    Call it in a transaction, which locks the rows until it ends.
    """
    moved = [it for it in _lock_and_reload_all(workloads) if it.move(to, reason=reason)]
    if moved:
        events.record_phases(moved, actor=by, verb=verb)
        if by:
            audit.record_each(by, verb, moved)
    return moved


def _lock_and_reload_all(workloads: Sequence[Workload]) -> list[Workload]:
    """Lock and reload the rows. Those that no longer exist are left out."""
    # In the order of their ids: two transactions that lock the same rows then cannot deadlock.
    rows = Workload.objects.filter(pk__in=[it.pk for it in workloads]).order_by("pk")
    present = {row.pop("pk"): row for row in rows.select_for_update().values("pk", *MOVED_COLUMNS)}
    for workload in workloads:
        for name, value in present.get(workload.pk, {}).items():
            setattr(workload, name, value)
    return [it for it in workloads if it.pk in present]


def _split_by_permission(
    workloads: Iterable[Workload], action: str, by: User | None
) -> tuple[list[Workload], Refusals]:
    """Return each workload on which ``by`` may do the action, once, and the refusals of the
    others."""
    allowed: dict[uuid.UUID, Workload] = {}
    refused: Refusals = {}
    for workload in workloads:
        try:
            if by:
                access.require(by, action, *workload.project.scope_keys)
            allowed[workload.pk] = workload
        except PermissionDenied as problem:
            refused[workload.pk] = problem
    return [*allowed.values()], refused


def _batches(workloads: Sequence[Workload]) -> list[Sequence[Workload]]:
    """Split the workloads, each part for one transaction: a long one keeps other writers
    waiting."""
    return [
        workloads[at : at + WORKLOADS_PER_TRANSACTION]
        for at in range(0, len(workloads), WORKLOADS_PER_TRANSACTION)
    ]


def resume(workload: Workload, *, by: User | None, message: str = "") -> None:
    """Start the next run of a workload that was stopped or has ended; its checkpoints are where it
    left them. If its own time limit is used up, it gets as much time again. ``by`` is ``None`` when
    somebody resumed it on the cluster. ``NotPossible`` if it cannot run again, or the quota has no
    room."""
    if by:
        access.require(by, "workloads.update", *workload.project.scope_keys)
    with transaction.atomic():
        _lock_and_reload(workload)
        if not workload.can_run:
            raise NotPossible(_why_not_again(workload))
        if by and (refusal := rule_limits.why_used_up(workload)):
            raise NotPossible(f"{workload.name} {refusal}.")
        columns: dict[str, Any] = {}
        if by:  # otherwise it already runs on the cluster
            demand = Demand(workload.gpus, workload.cpu_cores, workload.memory_bytes)
            choice = lock_and_choose_pool(workload.project, demand, workload.node_pools)
            if choice.refusal:
                raise NotPossible(f"{workload.name} {choice.refusal}.")
            rows = find_pools(workload.project, [choice.pool])
            columns["pool"] = rows.get(choice.pool)
        if not workload.logs_complete:
            Attempt.create_missing(workload)  # its output still has to be collected
        if workload.has_ended:
            raised = {**NOT_ENDED, **time_limits.columns_of_raised_limit(workload)}
            message = message or time_limits.raise_sentence(raised)
            columns |= raised
        moved = workload.move(
            Phase.RESUMING,
            reason=Reason.RESUMED_BY_USER,
            message=message or workload.array_sentence,
            run=workload.run + 1,
            attempt=0,
            queued_at=timezone.now(),
            logs_complete=False,
            handed_over_at=None,
            **columns,
        )
        if not moved:
            raise NotPossible(f"{workload.name} was changed at the same moment; try again.")
        start_ranks_afresh(workload)
        events.record_phase(workload, actor=by, verb="run")
        if by:
            audit.record(by, "run", workload)
        enqueue.submit(workload)


def _why_not_again(workload: Workload) -> str:
    if workload.has_ended:
        return f"{workload.name} is part of a workflow, which has counted its end. Restart that."
    return f"{workload.name} is {workload.phase}; it can run again once it has ended."


def extend(workload: Workload, *, by: User) -> None:
    """Extend the limits that a workload has from scheduling rules, once. ``NotPossible`` unless
    ``by`` is its owner and the rules allow it."""
    access.require(by, "workloads.update", *workload.project.scope_keys)
    with transaction.atomic():
        workload.refresh_from_db(from_queryset=Workload.objects.select_for_update())
        if workload.created_by_id != by.pk:
            owner = workload.created_by or "a person who is gone"
            raise NotPossible(f"Only the owner of {workload.name}, {owner}, can extend its limits.")
        if workload.limits_extended_at:
            raise NotPossible(f"The limits of {workload.name} were extended already.")
        limits = rule_limits.extended_limits(workload)
        if not limits or workload.phase in TERMINAL:
            raise NotPossible(f"{workload.name} has no limit that can be extended.")
        before = {column: getattr(workload, column) for column in limits}
        columns = {**limits, "limits_extended_at": timezone.now()}
        Workload.objects.filter(pk=workload.pk).update(**columns)
        for column, value in columns.items():
            setattr(workload, column, value)
        facts = "; ".join(f"{label}: {text}" for label, text in rule_limits.limit_facts(workload))
        events.record_action(workload, f"{facts}.", actor=by, verb="extend")
        audit.record(by, "extend", workload, before=before, after=limits)


def resume_all(workloads: Sequence[Workload], *, by: User) -> Refusals:
    """Run many; each starts or is refused on its own. Returns why, by id, for those refused."""
    refused: Refusals = {}
    for workload in workloads:
        try:
            resume(workload, by=by)
        except (NotPossible, PermissionDenied) as problem:
            refused[workload.pk] = problem
    return refused


def delete(workload: Workload, *, by: User | None, reason: Reason = Reason.DELETED_BY_USER) -> None:
    """Kill what runs and remove everything of it on the cluster. Asking twice is fine. ``by`` is
    ``None`` for an auto-deletion."""
    for refusal in delete_all([workload], by=by, reason=reason).values():
        raise refusal


def delete_all(
    workloads: Sequence[Workload], *, by: User | None, reason: Reason = Reason.DELETED_BY_USER
) -> Refusals:
    """Delete many; each is deleted or refused on its own. Returns why, by id, for those refused."""
    allowed, refused = _split_by_permission(workloads, "workloads.delete", by)
    for batch in _batches(allowed):
        with transaction.atomic():
            moved = _move_all(batch, Phase.DELETING, reason=reason, by=by, verb="delete")
            # The others are being deleted already.
            enqueue.delete(*(workload.pk for workload in moved))
    return refused


def purge(workload: Workload, *, by: User) -> None:
    """Remove now everything that is kept of a deleted workload. ``NotPossible`` if it is not
    deleted."""
    access.require(by, "workloads.delete", *workload.project.scope_keys)
    if workload.deleted_at is None:
        raise NotPossible(f"{workload.name} is {workload.phase}; delete it first.")
    with transaction.atomic():
        audit.record(by, "purge", workload)
        transaction.on_commit(partial(logs.remove, workload.pk))
        workload.delete()


def content_to_copy(workload: Workload) -> WorkloadDraft:
    """Return what to fill in to submit the workload once more. Values of an environment or a
    compute resource that no longer exists become the draft's own."""
    content = WorkloadDraft.model_validate(workload.draft_json)
    parts = content.parts
    for path, replica in parts.items():
        for kind in (ENVIRONMENT, COMPUTE):
            chosen = replica.assets.get(kind.slug)
            if chosen and not kind.model._default_manager.filter(pk=chosen).exists():
                _copy_asset_values(replica, path, kind, workload)
    if content.has_roles:
        named = [write_role(part) for path, part in parts.items() if path.startswith("roles[")]
        content.values = content.values | {"roles": named}
    return content


def copy(workload: Workload, *, by: User) -> Draft:
    """Create a draft with the workload's values and a free name. The copy of a deleted workload
    keeps its name, if it is still free."""
    content = content_to_copy(workload)
    content.name = free_copy_name(workload)
    draft = Draft(owner=by, copied_from=workload, template=workload.template)
    draft.content = content
    with transaction.atomic():
        draft.save()
        audit.record(by, "copy", workload)
    return draft


def _copy_asset_values(
    replica: ReplicaDraft, path: str, kind: AssetKind[Any], workload: Workload
) -> None:
    """Make the values that the workload has from its asset of this kind the replica's own.
    ``path`` is that of the replica in the spec."""
    replica.assets = {slug: pk for slug, pk in replica.assets.items() if slug != kind.slug}
    spec_values = as_mapping(value_at(workload.spec_json, parse_path(path)))
    values = dict(replica.values)
    for name in sorted(_fields_from_asset(workload, path, kind) & {*spec_values}):
        value = spec_values[name]
        own_value = values.get(name)
        if isinstance(value, list) and isinstance(own_value, list):
            own_names = {as_mapping(item).get("name") for item in own_value}
            inherited = [item for item in value if as_mapping(item).get("name") not in own_names]
            value = inherited + own_value
        values[name] = value
    replica.values = values


def _fields_from_asset(workload: Workload, replica: str, kind: AssetKind[Any]) -> set[str]:
    """Return the fields of a replica of which any value came from an asset of this kind."""
    return {
        path.removeprefix(f"{replica}.").partition(".")[0].partition("[")[0]
        for path, origin in workload.origins_json.items()
        if path.startswith(f"{replica}.") and origin.startswith(f"{kind.noun} ")
    }


def free_copy_name(workload: Workload) -> str:
    """Return the first name for a copy that is free in the project: ``train-copy``, then
    ``train-copy-2`` and so on."""
    base = workload.name[:40].rstrip("-") + "-copy"
    present = Workload.objects.filter(project=workload.project, deleted_at=None)
    if workload.deleted_at and not present.filter(name=workload.name).exists():
        return workload.name
    taken_names = set(present.filter(name__startswith=base).values_list("name", flat=True))
    name = base
    number = 1
    while name in taken_names:
        number += 1
        name = f"{base}-{number}"
    return name


def save_template(
    draft: WorkloadDraft, *, name: str, description: str, place: OwningScope, by: User
) -> Template:
    """Save a draft as a template, without its name and project. ``SpecError`` if the name
    is taken."""
    return assets.create(
        TEMPLATE,
        by=by,
        name=name,
        scope=place,
        document=draft.model_dump(mode="json", by_alias=True),
        description=description,
    )


def update_template(
    template: Template,
    draft: WorkloadDraft | None,
    *,
    by: User,
    name: str | None = None,
    description: str | None = None,
) -> None:
    """Replace a template's content with ``draft``, if given, and its name and description, if
    given. Its rules stay unless the draft has rules. ``SpecError``."""
    document = None
    if draft is not None:
        if draft.rules is None:
            draft = draft.model_copy(update={"rules": template.draft.rules})
        document = draft.model_dump(mode="json", by_alias=True)
    assets.update(TEMPLATE, template, by=by, name=name, description=description, document=document)
