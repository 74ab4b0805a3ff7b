"""Bring rows and clusters into line: pass requests on to engines, and store what was observed.

Network calls come first and the transaction after. Every function can run twice without harm.
"""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from engines.base import EngineRefused, EngineUnavailable, Observation, RankState
from spec.phases import (
    ACTIVE,
    ENDED,
    HANDED_OVER,
    HOLDING_RESOURCES,
    RANK_ACTIVE,
    STOP_REQUESTED,
    Phase,
    RankPhase,
    Reason,
)
from workloads import diagnosis, enqueue
from workloads.engines import engine_for_person, engine_to_end
from workloads.history import causes, events, last_seen
from workloads.history.phase_order import keep_phase_forward
from workloads.launch import launch_with_secrets
from workloads.models import Rank, Workload
from workloads.models.times import times_of_new_reason
from workloads.scheduling import requeue
from workloads.scheduling.limits import idle_limits, rule_limits, time_limits

STOPPED_THERE = "It was stopped on the cluster, not in Trainyard."


def launch(workload: Workload) -> None:
    """Submit an admitted gang to its engine. If the engine refuses, the workload fails with its
    message."""
    if workload.phase != Phase.INITIALIZING:
        return
    try:
        engine_for_person(workload.cluster, workload.created_by_id).submit(
            launch_with_secrets(workload)
        )
    except EngineRefused as refusal:
        fail_refused(workload, refusal)
    else:
        enqueue.monitor(workload.cluster_id)


def fail_refused(workload: Workload, refusal: EngineRefused) -> None:
    """Fail a workload that its cluster refused, with the message and the field it is about."""
    message = str(refusal)
    if not message.startswith(refusal.field):
        message = f"{refusal.field}: {message}"
    with transaction.atomic():
        if workload.move(
            Phase.FAILED,
            reason=refusal.reason,
            message=message,
            logs_complete=not workload.observed_run,
            failure_class=diagnosis.refusal_class(refusal.reason),
            failure_line={},
        ):
            _end_ranks(workload, RankPhase.FAILED)
            causes.end_cause(workload)
            events.record_phase(workload)
            enqueue.admit(workload.cluster_id)


def stop(
    workload: Workload, *, may_store_end: Callable[[Workload, Observation], bool] | None = None
) -> None:
    """Pass a stop on to the engine. A workload that never reached it is stopped at once.

    ``collected`` decides whether the observed end may be stored now; otherwise the watch does it
    later.
    """
    if workload.phase != Phase.STOPPING:
        return
    engine = engine_to_end(workload.cluster, workload.created_by_id)
    engine.stop(workload.handle, run=workload.run)
    observation = engine.observe(workload.handle)
    if observation is None or observation.run < workload.run:
        end_lost(workload)
    elif may_store_end is None or may_store_end(workload, observation):
        apply(workload, observation)


def delete(workload: Workload, *, collect_rest: Callable[[Workload], str] | None = None) -> None:
    """Remove the workload from its cluster, then hide its row. Its output stays: ``collect_rest``
    fetches what is not stored yet, and returns why some of it is lost, or an empty string."""
    if workload.phase != Phase.DELETING or workload.deleted_at:
        return
    losses: list[str] = []

    def collect_at_rest() -> None:
        loss = collect_rest(workload) if collect_rest else ""
        if loss:
            losses.append(loss)

    # First the cluster, then the row: if the task is interrupted in between it runs again, and an
    # engine accepts to delete what is gone already.
    try:
        engine = engine_to_end(workload.cluster, workload.created_by_id)
        engine.delete(workload.handle, at_rest=collect_at_rest)
    except EngineUnavailable as error:
        if error.cause:  # the task is retried; until then show what it waits for
            rows = Workload.objects.filter(pk=workload.pk, phase=Phase.DELETING)
            rows.update(reason=error.cause.reason, message=error.cause.message)
        raise
    columns: dict[str, Any] = events.columns_before_deletion(workload)
    columns |= _columns_if_never_observed(workload)
    with transaction.atomic():
        rows = Workload.objects.filter(pk=workload.pk, deleted_at=None)
        rows.update(deleted_at=timezone.now(), running_pods=0, **columns)
        _end_ranks(workload, RankPhase.STOPPED)
        causes.end_cause(workload)
        for loss in losses:
            message = f"The last of its output is lost: {loss}"
            events.record_note(workload, message, source="trainyard")
        events.announce(workload)
        enqueue.admit(workload.cluster_id)


def apply(workload: Workload, observation: Observation) -> bool:
    """Store an observation; ``False`` if a later one was stored already.

    Observations are applied once and in order: the guarded UPDATE only accepts a later one.
    """
    if observation.run < workload.run or workload.deleted_at:
        return False
    with transaction.atomic():
        if not _claim_observation(workload, observation):
            return False
        events.announce(workload)  # before other messages of this commit, so that pages hear first
        workload.refresh_from_db()  # our UPDATE has locked the row, so this is its present state
        before = workload.phase
        observation = keep_phase_forward(workload, observation)
        _apply_ranks(workload, observation)
        observation = last_seen.with_last_failure(workload.ranks.all(), observation)
        record_attempt(workload, observation.attempt)
        _apply_phase(workload, observation)
        causes.record_observed(workload, observation)
        if workload.phase != before:
            # In the same transaction, so that nobody sees a failure without its class.
            diagnosis.record_diagnosis(workload)
    return True


def record_attempt(workload: Workload, number: int) -> None:
    """Record that the gang was started again. Attempts only grow, so a smaller number is
    ignored."""
    if number <= workload.attempt:
        return
    # A guarded UPDATE: if two processes see the attempt, one of them writes the event.
    earlier = Workload.objects.filter(pk=workload.pk, run=workload.run, attempt__lt=number)
    with transaction.atomic():
        if earlier.update(attempt=number):
            text = f"Attempt {number + 1} of the gang starts."
            events.record_note(workload, text, source="engine", reason=Reason.RESTARTING)
            workload.attempt = number


def is_past(workload: Workload, observation: Observation) -> bool:
    """Whether a later observation was applied already."""
    latest = (workload.observed_run, workload.observed_sequence)
    return (observation.run, observation.sequence) < latest


def _claim_observation(workload: Workload, observation: Observation) -> bool:
    """Store the number of an observation; ``False`` if the same or a later one was stored.

    A guarded UPDATE: of two processes with the same observation, one applies it. It also locks the
    row until the transaction ends.
    """
    is_later = Q(observed_run__lt=observation.run) | Q(
        observed_run=observation.run, observed_sequence__lt=observation.sequence
    )
    running = sum(rank.phase == RankPhase.RUNNING for rank in observation.ranks)
    rows = Workload.objects.filter(is_later, pk=workload.pk, run=observation.run)
    changed = rows.update(
        observed_run=observation.run,
        observed_sequence=observation.sequence,
        running_pods=running,
    )
    return bool(changed)


def _apply_phase(workload: Workload, observation: Observation) -> None:
    before = workload.phase
    if observation.phase is Phase.STOPPED and _move_as_stopped_by_us(workload, observation.message):
        return
    ended_by_queue = observation.phase is Phase.STOPPED and observation.starts_over
    if ended_by_queue and requeue.start_over(workload, observation.message):
        return
    if observation.phase is None:
        end_lost(workload, observation.message)
    elif observation.phase != before:
        message = _phase_message(workload, observation)
        if workload.move(
            observation.phase, reason=observation.reason, message=message, at=observation.at
        ):
            events.record_phase(workload, announce_by=events.announce_nothing)
            if before in HOLDING_RESOURCES and not workload.holds_resources:
                enqueue.admit(workload.cluster_id)
    elif observation.message and _says_something_else(workload, observation):
        rows = Workload.objects.filter(pk=workload.pk, phase=before, reason=workload.reason)
        times = times_of_new_reason(workload, observation.reason, observation.at)
        rows.update(reason=observation.reason, message=observation.message, **times)


def _says_something_else(workload: Workload, observation: Observation) -> bool:
    stored = (workload.reason, workload.message)
    return (observation.reason, observation.message) != stored


def _phase_message(workload: Workload, observation: Observation) -> str:
    """Return the message of the new phase. A stop that was not requested in Trainyard says so."""
    if observation.message or observation.phase not in STOP_REQUESTED:
        return observation.message
    return workload.message if workload.phase == Phase.STOPPING else STOPPED_THERE


def _add_ranks(workload: Workload, observation: Observation) -> None:
    """Add rows for ranks that a script started beyond those that were requested. They share what
    the others requested, so the demand stays the same."""
    present = set(workload.ranks.values_list("rank", flat=True))
    added = [state for state in observation.ranks if state.rank not in present]
    if not added:
        return
    Rank.objects.bulk_create(Rank.of_state(workload, state) for state in added)
    number = len(present) + len(added)
    text = f"Its script started more ranks than it requested: {number} in all."
    events.record_note(workload, text, source="engine")
    Workload.objects.filter(pk=workload.pk).update(num_pods=number)
    workload.num_pods = number


def _apply_ranks(workload: Workload, observation: Observation) -> None:
    if observation.has_own_ranks:
        _add_ranks(workload, observation)
    rows = {row.rank: row for row in workload.ranks.all()}
    changed = []
    for state in observation.ranks:
        row = rows.get(state.rank)
        if row is None:
            continue
        if _copy_state(row, last_seen.rank_state_to_store(row, state, observation)):
            changed.append(row)
    if changed:
        # An upsert with one row per rank; ``bulk_update`` would build a CASE for each rank and
        # field.
        Rank.objects.bulk_create(
            changed,
            update_conflicts=True,
            unique_fields=["id"],
            update_fields=last_seen.STATE_FIELDS,
        )


def _end_ranks(workload: Workload, phase: RankPhase) -> None:
    """End the ranks with their workload: the gang is gone, so nothing will report how they ended. A
    rank that had failed by itself, and waited to start again, keeps its reason."""
    active = workload.ranks.filter(phase__in=RANK_ACTIVE)
    failed = active.filter(reason__in=last_seen.PROGRAM_REASONS, finished_at__isnull=False)
    failed.update(phase=phase)
    active.update(phase=phase, reason=workload.reason, finished_at=workload.phase_updated_at)


def enforce(workload: Workload, observation: Observation) -> None:
    """Stop or delete on the cluster what runs although its row says otherwise.

    The workload was handed over while it was being stopped or deleted, or it came back after it was
    given up. An earlier run must end too, or the next one, which was requested since, could never
    start.
    """
    if observation.phase is None:
        return
    has_ended = workload.phase in ENDED or observation.run < workload.run
    if workload.deleted_at:
        engine_to_end(workload.cluster, workload.created_by_id).delete(workload.handle)
    elif has_ended and observation.phase in ACTIVE:
        engine = engine_to_end(workload.cluster, workload.created_by_id)
        engine.stop(workload.handle, run=observation.run)


def _copy_state(row: Rank, state: RankState) -> bool:
    changed = last_seen.rank_differs(row, state)
    for name in last_seen.STATE_FIELDS:
        setattr(row, name, getattr(state, name))
    return changed


def end_lost(workload: Workload, why: str = "") -> None:
    """End a workload that its cluster no longer has. A requested stop is done; any other workload
    failed."""
    if workload.phase not in HANDED_OVER:
        return
    with transaction.atomic():
        if not _move_as_stopped_by_us(workload):
            _move_lost(workload, why)
        diagnosis.record_diagnosis(workload)


def _move_lost(workload: Workload, why: str) -> None:
    to = Phase.FAILED
    reason = Reason.LOST
    why = why or f"{workload.cluster.name} no longer has this workload."
    message = f"{why} Copy & edit it to start it again."
    if workload.phase == Phase.STOPPING:
        to = Phase.STOPPED
        reason = Reason.STOPPED_BY_USER
        message = "" if workload.observed_run == workload.run else "It had not started yet."
    columns = _columns_if_never_observed(workload)
    if workload.move(to, reason=reason, message=message, running_pods=0, **columns):
        _end_ranks(workload, RankPhase.STOPPED if to is Phase.STOPPED else RankPhase.FAILED)
        causes.end_cause(workload)
        events.record_phase(workload)
        enqueue.admit(workload.cluster_id)


def _columns_if_never_observed(workload: Workload) -> dict[str, Any]:
    """Return the columns to set as well: a workload that was never observed has printed nothing, so
    its logs are complete."""
    return {} if workload.observed_run else {"logs_complete": True}


def _move_as_stopped_by_us(workload: Workload, message: str = "") -> bool:
    """Move a workload that Trainyard itself stopped to the phase that its end means; ``False`` for
    any other. ``message`` is what its cluster says about the end."""
    return (
        requeue.requeue_if_preempted(workload, message)
        or time_limits.finish_limit_stop(workload, message)
        or idle_limits.finish_idle_stop(workload, message)
        or rule_limits.finish_rule_stop(workload, message)
    )
