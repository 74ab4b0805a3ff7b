"""Between the rows and the clusters: hand over what was asked, write down what was seen.

Network first, transaction after; running any of these twice changes nothing.
"""

from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from clusters.engines import engine_for, site_of
from engines.base import EngineRefused, Launch, Observation, RankState
from spec.phases import ACTIVE, AT_WORK, GATHERING, HOLDING, TERMINAL, Phase, RankPhase, Reason
from workloads import admission, history, logs, outbox, waiting
from workloads.models import Rank, Workload

#: The cluster should have it. A cluster that queues for itself shows Pending too; elsewhere a
#: pending workload has not been seen in its run yet.
HANDED_OVER = HOLDING | {Phase.PENDING}
STOPPED_THERE = "It was stopped on the cluster, not by Trainyard."
ANEW = "Its ranks start anew."


def start(workload: Workload) -> None:
    """Queue a submitted or resumed workload of a cluster that has no queue of its own."""
    with transaction.atomic():
        if workload.move(Phase.PENDING):
            history.phase(workload)
    admission.admit(workload.cluster)


def launch(workload: Workload) -> None:
    """Hand an admitted gang to its engine. A refusal ends the workload with what was said."""
    if workload.phase != Phase.INITIALIZING:
        return
    try:
        engine_for(workload.cluster).submit(launch_of(workload))
    except EngineRefused as refusal:
        refused(workload, refusal)
    else:
        outbox.monitor(workload.cluster_id)


def refused(workload: Workload, refusal: EngineRefused) -> None:
    """The cluster will not have it: the workload ends with what was said, and of which field."""
    said, field = str(refusal), refusal.field
    with transaction.atomic():
        if workload.move(
            Phase.FAILED,
            reason=refusal.reason,
            message=said if said.startswith(field) else f"{field}: {said}",
            logs_complete=not workload.observed_run,
        ):
            _end_ranks(workload)
            waiting.end(workload)
            history.phase(workload)
            outbox.admit(workload.cluster_id)


def launch_of(workload: Workload) -> Launch:
    spec = workload.spec
    return Launch(
        handle=workload.handle,
        run=workload.run,
        spec=spec,
        submitted_by=workload.created_by.username if workload.created_by else "",
        gpus=_devices(workload),
        site=site_of(workload.cluster, spec),
    )


def _devices(workload: Workload) -> dict[int, tuple[int, ...]]:
    """What admission gave each rank; nothing where the cluster chooses."""
    if workload.cluster.capabilities.queues:
        return {}
    return {rank.rank: tuple(rank.gpu_devices) for rank in workload.ranks.all()}


def stop(workload: Workload) -> None:
    """Pass a stop on. What never reached the engine is stopped at once."""
    if workload.phase != Phase.STOPPING:
        return
    engine = engine_for(workload.cluster)
    engine.stop(workload.handle, run=workload.run)
    seen = engine.observe(workload.handle)
    if seen is None or seen.run < workload.run:
        lost(workload)
    else:
        apply(workload, seen)


def delete(workload: Workload) -> None:
    """Remove what the workload made and printed, then hide its row."""
    if workload.phase != Phase.DELETING or workload.deleted_at:
        return
    engine_for(workload.cluster).delete(workload.handle)
    logs.remove(workload.pk)
    with transaction.atomic():
        Workload.objects.filter(pk=workload.pk, deleted_at=None).update(
            deleted_at=timezone.now(), logs_complete=True, running_pods=0
        )
        waiting.end(workload)
        history.announce(workload)
        outbox.admit(workload.cluster_id)


def apply(workload: Workload, seen: Observation) -> bool:
    """Write an observation down; ``False`` when it is old news.

    An observation is applied once and in order: the guarded UPDATE lets only a later one through.
    """
    if seen.run < workload.run or workload.deleted_at:
        return False
    with transaction.atomic():
        if not _is_news(workload, seen):
            return False
        workload.refresh_from_db()  # our UPDATE holds the row, so this is how it stands
        seen = forward(workload, seen)
        _apply_ranks(workload, seen)
        attempt_starts(workload, seen.attempt)
        _apply_phase(workload, seen)
        waiting.note(workload, seen)
        history.announce(workload)
    return True


def forward(row: Workload, seen: Observation) -> Observation:
    """As people are told it: no phase goes back within a run. What once ran and gathers its ranks
    again is Degraded until all of them run, what began to start is starting while a rank looks for
    another node; only what was preempted is Pending again."""
    queued = seen.phase is Phase.PENDING and seen.reason is Reason.PREEMPTED
    if row.phase in AT_WORK and seen.phase in GATHERING and not queued:
        return replace(seen, phase=Phase.DEGRADED, message=seen.message or ANEW)
    if row.phase == Phase.INITIALIZING and seen.phase is Phase.PENDING and not queued:
        return replace(seen, phase=Phase.INITIALIZING)
    return seen


def attempt_starts(workload: Workload, number: int) -> None:
    """Attempts only grow: one that is known says nothing new."""
    if number <= workload.attempt:
        return
    now = Workload.objects.filter(pk=workload.pk, run=workload.run, attempt__lt=number)
    with transaction.atomic():
        if now.update(attempt=number):
            text = f"Attempt {number + 1} of the gang starts."
            history.note(workload, text, source="engine", reason=Reason.RESTARTING)
            workload.attempt = number


def _is_news(workload: Workload, seen: Observation) -> bool:
    later = Q(observed_run__lt=seen.run) | Q(
        observed_run=seen.run, observed_sequence__lt=seen.sequence
    )
    running = sum(rank.phase == RankPhase.RUNNING for rank in seen.ranks)
    return bool(
        Workload.objects.filter(later, pk=workload.pk, run=seen.run).update(
            observed_run=seen.run,
            observed_sequence=seen.sequence,
            running_pods=running,
        )
    )


def _apply_phase(workload: Workload, seen: Observation) -> None:
    before = workload.phase
    if seen.phase is None:
        lost(workload, seen.message)
    elif seen.phase != before:
        message = _message(workload, seen)
        if workload.move(seen.phase, reason=seen.reason, message=message, at=seen.at):
            history.phase(workload, tell=history.nobody_yet)
            if before in HOLDING and not workload.holds:
                outbox.admit(workload.cluster_id)
    elif (seen.reason, seen.message) != (workload.reason, workload.message) and seen.message:
        Workload.objects.filter(pk=workload.pk).update(reason=seen.reason, message=seen.message)


def _message(workload: Workload, seen: Observation) -> str:
    """A stop that nobody asked Trainyard for says so, until it runs again."""
    if seen.message or seen.phase not in {Phase.STOPPING, Phase.STOPPED}:
        return seen.message
    return workload.message if workload.phase == Phase.STOPPING else STOPPED_THERE


def _apply_ranks(workload: Workload, seen: Observation) -> None:
    rows = {row.rank: row for row in workload.ranks.all()}
    changed = []
    for state in seen.ranks:
        row = rows.get(state.rank)
        if row is not None and _copy_state(row, kept(row, state, seen)):
            changed.append(row)
    if changed:
        # One row a rank with plain values; an UPDATE of many takes a CASE for each rank and field.
        Rank.objects.bulk_create(
            changed, update_conflicts=True, unique_fields=["id"], update_fields=STATE_FIELDS
        )


def _end_ranks(workload: Workload) -> None:
    """Nobody will report how the ranks of a gang that is gone ended: as their workload did."""
    phase = RankPhase.STOPPED if workload.phase == Phase.STOPPED else RankPhase.FAILED
    workload.ranks.filter(phase__in=[RankPhase.PENDING, RankPhase.RUNNING]).update(
        phase=phase, reason=workload.reason, finished_at=workload.phase_updated_at
    )


def enforce(workload: Workload, seen: Observation) -> None:
    """End what runs although its row says otherwise.

    It was handed over while it was being stopped or deleted, or came back after it was given up.
    An earlier run must end, too, or the one that was asked for since could never start.
    """
    if seen.phase is None:
        return
    over = workload.phase in ENDED or seen.run < workload.run
    if workload.deleted_at:
        engine_for(workload.cluster).delete(workload.handle)
    elif over and seen.phase in ACTIVE:
        engine_for(workload.cluster).stop(workload.handle, run=seen.run)


ENDED = TERMINAL | {Phase.STOPPED}
OF_THE_PROGRAM = {Reason.COMMAND_NOT_FOUND, Reason.RANK_FAILED, Reason.OUT_OF_MEMORY}
STATE_FIELDS = (
    "node",
    "phase",
    "reason",
    "message",
    "restarts",
    "exit_code",
    "started_at",
    "finished_at",
)


def kept(row: Rank, state: RankState, seen: Observation) -> RankState:
    """At the end of its workload a rank that is there no more keeps what was seen of it last: the
    cluster may have removed it before anyone could look."""
    if seen.phase not in TERMINAL or state.node or not row.node:
        return state
    known = {name: getattr(row, name) for name in STATE_FIELDS if name != "phase"}
    failed = seen.phase is Phase.FAILED and (row.exit_code or row.reason in OF_THE_PROGRAM)
    return replace(state, **known, phase=RankPhase.FAILED if failed else state.phase)


def differs(row: Rank, state: RankState) -> bool:
    return any(getattr(row, name) != getattr(state, name) for name in STATE_FIELDS)


def _copy_state(row: Rank, state: RankState) -> bool:
    changed = differs(row, state)
    for name in STATE_FIELDS:
        setattr(row, name, getattr(state, name))
    return changed


def lost(workload: Workload, why: str = "") -> None:
    """The cluster no longer has what it should have: a stop is done, anything else has failed."""
    if workload.phase not in HANDED_OVER:
        return
    to, reason = Phase.FAILED, Reason.LOST
    why = why or f"{workload.cluster.name} no longer has this workload."
    message = f"{why} Copy & edit it to start it again."
    if workload.phase == Phase.STOPPING:
        to, reason = Phase.STOPPED, Reason.STOPPED_BY_USER
        message = "" if workload.observed_run == workload.run else "It had not started yet."
    # What was never seen has printed nothing; of all else the collector finds when it is all here.
    collected: dict[str, Any] = {} if workload.observed_run else {"logs_complete": True}
    with transaction.atomic():
        if workload.move(to, reason=reason, message=message, running_pods=0, **collected):
            _end_ranks(workload)
            waiting.end(workload)
            history.phase(workload)
            outbox.admit(workload.cluster_id)
