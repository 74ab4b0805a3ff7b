"""The order of phases as people expect it: within a run a workload only moves forward."""

from dataclasses import replace

from engines.base import Observation, RankState
from spec.kind import WorkloadKind
from spec.phases import AT_WORK, GATHERING, WAITING, Phase, RankPhase, Reason
from workloads.models import Workload

RANKS_START_AGAIN = "Its ranks start again."
PROGRAM_ENDED = "Its program ended with exit code 0. Run starts it again."


def keep_phase_forward(row: Workload, observation: Observation) -> Observation:
    """The observation as it is shown; no phase goes back within a run.

    A workload that ran and gathers its ranks again is Degraded until all of them run. One that was
    starting stays Initializing while a rank looks for another node. Only a preempted one is Pending
    again. One that was never complete has lost no rank yet: it stays Pending, whatever its first
    ranks do. If nobody watched, it counts as having been complete when every rank has a node or
    lost one. One of a kind that never completes, such as a workspace, is Stopped when its program
    ends.
    """
    if observation.phase is Phase.COMPLETED and not WorkloadKind(row.kind).traits.completes:
        return replace(
            observation, phase=Phase.STOPPED, message=observation.message or PROGRAM_ENDED
        )
    queued = observation.phase is Phase.PENDING and observation.reason is Reason.PREEMPTED
    if row.phase in AT_WORK and observation.phase in GATHERING and not queued:
        reason = observation.reason
        if reason is Reason.NONE and row.reason == Reason.RESTARTING:
            reason = Reason.RESTARTING  # the next attempt is not whole yet
        message = observation.message or RANKS_START_AGAIN
        return replace(observation, phase=Phase.DEGRADED, reason=reason, message=message)
    began = row.phase == Phase.INITIALIZING or _had_all_nodes(observation)
    if began and observation.phase is Phase.PENDING and not queued:
        return replace(observation, phase=Phase.INITIALIZING)
    if row.phase in WAITING and observation.phase is Phase.DEGRADED:
        return _as_waiting(observation)
    return observation


def _had_all_nodes(observation: Observation) -> bool:
    losers = [it for it in observation.ranks if it.lost_its_node]
    return bool(losers) and all(it.node or it in losers for it in observation.ranks)


def _as_waiting(observation: Observation) -> Observation:
    """The observation as Pending, if some ranks have no place yet."""
    few = sum(_is_unplaced(it) for it in observation.ranks)
    if not few:
        return observation
    is_explained = observation.cause or observation.reason is not Reason.NONE
    missing = f"Waiting for {few} of {len(observation.ranks)} ranks."
    words = observation.message if is_explained else missing
    return replace(observation, phase=Phase.PENDING, message=words)


def _is_unplaced(rank: RankState) -> bool:
    return rank.phase is RankPhase.PENDING and not rank.node and not rank.lost_its_node
