"""Between the rows and the clusters: hand over what was asked, write down what was seen.

Network first, transaction after; running any of these twice changes nothing.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from assets.credential.own_keys import engine_by, engine_to_end
from engines.base import EngineRefused, EngineUnavailable, Observation, RankState
from spec.phases import (
    ACTIVE,
    ENDED,
    HANDED_OVER,
    HOLDING,
    RANK_ACTIVE,
    TERMINAL,
    TOLD_TO_STOP,
    Phase,
    RankPhase,
    Reason,
)
from workloads import diagnosis, enqueue
from workloads.history import causes, events
from workloads.history.progress import forward
from workloads.launch import launch_of
from workloads.models import Rank, Workload
from workloads.scheduling.limits import endings

STOPPED_THERE = "It was stopped on the cluster, not in Trainyard."


def launch(workload: Workload) -> None:
    """Hand an admitted gang to its engine. A refusal ends the workload with what was said."""
    if workload.phase != Phase.INITIALIZING:
        return
    try:
        engine_by(workload.cluster, workload.created_by_id).submit(launch_of(workload))
    except EngineRefused as refusal:
        refused(workload, refusal)
    else:
        enqueue.monitor(workload.cluster_id)


def refused(workload: Workload, refusal: EngineRefused) -> None:
    """The cluster will not have it: the workload ends with what was said, and of which field."""
    said, field = str(refusal), refusal.field
    with transaction.atomic():
        if workload.move(
            Phase.FAILED,
            reason=refusal.reason,
            message=said if said.startswith(field) else f"{field}: {said}",
            logs_complete=not workload.observed_run,
            failure_class=diagnosis.of_a_refusal(refusal.reason),
            failure_line={},
        ):
            _end_ranks(workload, RankPhase.FAILED)
            causes.end(workload)
            events.phase(workload)
            enqueue.admit(workload.cluster_id)


def stop(
    workload: Workload, *, collected: Callable[[Workload, Observation], bool] | None = None
) -> None:
    """Pass a stop on. What never reached the engine is stopped at once.

    ``collected`` says whether what is seen may be told now; else whoever watches the cluster does.
    """
    if workload.phase != Phase.STOPPING:
        return
    engine = engine_to_end(workload.cluster, workload.created_by_id)
    engine.stop(workload.handle, run=workload.run)
    observation = engine.observe(workload.handle)
    if observation is None or observation.run < workload.run:
        lost(workload)
    elif collected is None or collected(workload, observation):
        apply(workload, observation)


def delete(workload: Workload, *, collect: Callable[[Workload], str] | None = None) -> None:
    """Remove what the workload has on its cluster, then hide its row. What it printed stays:
    ``collect`` brings the rest of it here, and says why some of it is lost."""
    if workload.phase != Phase.DELETING or workload.deleted_at:
        return
    missing: list[str] = []

    def at_rest() -> None:
        if collect and (why := collect(workload)):
            missing.append(why)

    try:
        engine = engine_to_end(workload.cluster, workload.created_by_id)
        engine.delete(workload.handle, at_rest=at_rest)
    except EngineUnavailable as why:
        if why.cause:  # it is asked again; meanwhile people read for whom it waits
            rows = Workload.objects.filter(pk=workload.pk, phase=Phase.DELETING)
            rows.update(reason=why.cause.reason, message=why.cause.message)
        raise
    also: dict[str, Any] = events.end_before_deletion(workload) | _collected(workload)
    with transaction.atomic():
        rows = Workload.objects.filter(pk=workload.pk, deleted_at=None)
        rows.update(deleted_at=timezone.now(), running_pods=0, **also)
        _end_ranks(workload, RankPhase.STOPPED)
        causes.end(workload)
        for text in missing:
            events.note(workload, f"The last of its output is lost: {text}", source="trainyard")
        events.announce(workload)
        enqueue.admit(workload.cluster_id)


def apply(workload: Workload, observation: Observation) -> bool:
    """Write an observation down; ``False`` when it is old news.

    An observation is applied once and in order: the guarded UPDATE lets only a later one through.
    """
    if observation.run < workload.run or workload.deleted_at:
        return False
    with transaction.atomic():
        if not _is_news(workload, observation):
            return False
        events.announce(workload)  # before whatever else is sent after the commit
        workload.refresh_from_db()  # our UPDATE holds the row, so this is how it stands
        observation = forward(workload, observation)
        _apply_ranks(workload, observation)
        attempt_starts(workload, observation.attempt)
        _apply_phase(workload, observation)
        causes.note(workload, observation)
    return True


def attempt_starts(workload: Workload, number: int) -> None:
    """Attempts only grow: one that is known says nothing new."""
    if number <= workload.attempt:
        return
    now = Workload.objects.filter(pk=workload.pk, run=workload.run, attempt__lt=number)
    with transaction.atomic():
        if now.update(attempt=number):
            text = f"Attempt {number + 1} of the gang starts."
            events.note(workload, text, source="engine", reason=Reason.RESTARTING)
            workload.attempt = number


def is_past(workload: Workload, observation: Observation) -> bool:
    """Whether something later was applied."""
    latest = (workload.observed_run, workload.observed_sequence)
    return (observation.run, observation.sequence) < latest


def _is_news(workload: Workload, observation: Observation) -> bool:
    later = Q(observed_run__lt=observation.run) | Q(
        observed_run=observation.run, observed_sequence__lt=observation.sequence
    )
    running = sum(rank.phase == RankPhase.RUNNING for rank in observation.ranks)
    return bool(
        Workload.objects.filter(later, pk=workload.pk, run=observation.run).update(
            observed_run=observation.run,
            observed_sequence=observation.sequence,
            running_pods=running,
        )
    )


def _apply_phase(workload: Workload, observation: Observation) -> None:
    before = workload.phase
    if observation.phase is Phase.STOPPED and endings.settled(workload, observation.message):
        return
    if observation.phase is None:
        lost(workload, observation.message)
    elif observation.phase != before:
        message = _message(workload, observation)
        if workload.move(
            observation.phase, reason=observation.reason, message=message, at=observation.at
        ):
            events.phase(workload, tell=events.nobody_yet)
            if before in HOLDING and not workload.holds:
                enqueue.admit(workload.cluster_id)
    elif (observation.reason, observation.message) != (
        workload.reason,
        workload.message,
    ) and observation.message:
        Workload.objects.filter(pk=workload.pk).update(
            reason=observation.reason, message=observation.message
        )


def _message(workload: Workload, observation: Observation) -> str:
    """A stop that nobody asked Trainyard for says so, until it runs again."""
    if observation.message or observation.phase not in TOLD_TO_STOP:
        return observation.message
    return workload.message if workload.phase == Phase.STOPPING else STOPPED_THERE


def _apply_ranks(workload: Workload, observation: Observation) -> None:
    rows = {row.rank: row for row in workload.ranks.all()}
    changed = []
    for state in observation.ranks:
        row = rows.get(state.rank)
        if row is not None and _copy_state(row, kept(row, state, observation)):
            changed.append(row)
    if changed:
        # One row a rank with plain values; an UPDATE of many takes a CASE for each rank and field.
        Rank.objects.bulk_create(
            changed, update_conflicts=True, unique_fields=["id"], update_fields=STATE_FIELDS
        )


def _end_ranks(workload: Workload, phase: RankPhase) -> None:
    """Nobody will report how the ranks of a gang that is gone ended: as their workload did."""
    workload.ranks.filter(phase__in=RANK_ACTIVE).update(
        phase=phase, reason=workload.reason, finished_at=workload.phase_updated_at
    )


def enforce(workload: Workload, observation: Observation) -> None:
    """End what runs although its row says otherwise.

    It was handed over while it was being stopped or deleted, or came back after it was given up.
    An earlier run must end, too, or the one that was asked for since could never start.
    """
    if observation.phase is None:
        return
    over = workload.phase in ENDED or observation.run < workload.run
    if workload.deleted_at:
        engine_to_end(workload.cluster, workload.created_by_id).delete(workload.handle)
    elif over and observation.phase in ACTIVE:
        engine = engine_to_end(workload.cluster, workload.created_by_id)
        engine.stop(workload.handle, run=observation.run)


OF_THE_PROGRAM = {Reason.COMMAND_NOT_FOUND, Reason.RANK_FAILED, Reason.OUT_OF_MEMORY}
STATE_FIELDS = (
    *("node", "phase", "reason", "message"),
    *("restarts", "exit_code", "started_at", "finished_at"),
)


def kept(row: Rank, state: RankState, observation: Observation) -> RankState:
    """At the end of its workload a rank that is there no more keeps what was seen of it last: the
    cluster may have removed it before anyone could look."""
    if observation.phase not in TERMINAL or state.node or not row.node:
        return state
    last_state = {name: getattr(row, name) for name in STATE_FIELDS if name != "phase"}
    failed = observation.phase is Phase.FAILED and (row.exit_code or row.reason in OF_THE_PROGRAM)
    return replace(state, **last_state, phase=RankPhase.FAILED if failed else state.phase)


def differs(row: Rank, state: RankState) -> bool:
    return any(getattr(row, name) != getattr(state, name) for name in STATE_FIELDS)


def _copy_state(row: Rank, state: RankState) -> bool:
    changed = differs(row, state)
    for name in STATE_FIELDS:
        setattr(row, name, getattr(state, name))
    return changed


def lost(workload: Workload, why: str = "") -> None:
    """The cluster no longer has what it should have: a stop is done, anything else has failed."""
    if workload.phase not in HANDED_OVER or endings.settled(workload):
        return
    to, reason = Phase.FAILED, Reason.LOST
    why = why or f"{workload.cluster.name} no longer has this workload."
    message = f"{why} Copy & edit it to start it again."
    if workload.phase == Phase.STOPPING:
        to, reason = Phase.STOPPED, Reason.STOPPED_BY_USER
        message = "" if workload.observed_run == workload.run else "It had not started yet."
    also = _collected(workload)
    with transaction.atomic():
        if workload.move(to, reason=reason, message=message, running_pods=0, **also):
            _end_ranks(workload, RankPhase.STOPPED if to is Phase.STOPPED else RankPhase.FAILED)
            causes.end(workload)
            events.phase(workload)
            enqueue.admit(workload.cluster_id)


def _collected(workload: Workload) -> dict[str, Any]:
    """What was never seen has printed nothing; of all else the collector finds when it is here."""
    return {} if workload.observed_run else {"logs_complete": True}
