"""The order of phases as people expect it: within a run a workload only moves forward."""

from dataclasses import replace

from engines.base import Observation, RankState
from spec.kind import WorkloadKind
from spec.phases import AT_WORK, GATHERING, WAITING, Phase, RankPhase, Reason
from workloads.models import Workload

RANKS_START_AGAIN = "Its ranks start again."
RUN_STARTS_IT = "Run starts it again."
PROGRAM_ENDED = f"Its program ended with exit code 0. {RUN_STARTS_IT}"


def keep_phase_forward(row: Workload, observation: Observation) -> Observation:
    """Return the observation with a phase that does not go back within a run.

    - A workload that ran and gathers its ranks again is Degraded until all of them run.
    - A workload that was starting stays Initializing while a rank looks for another node.
    - Only a workload that was preempted, or that the cluster's queue took back, is Pending again.
    - A workload whose ranks were never all started stays Pending, whatever its first ranks do. If
      this was not observed, they count as started when each has a node or lost one.
    - A workload of a kind that never completes, such as a workspace, is Stopped when its program
      ends, or its cluster took its pod away.
    """
    is_lost = observation.phase is Phase.FAILED and observation.reason is Reason.LOST
    may_stop = is_lost or observation.phase is Phase.COMPLETED
    if may_stop and not WorkloadKind(row.kind).traits.completes:
        message = observation.message or PROGRAM_ENDED
        if is_lost:
            message = f"{observation.message} {RUN_STARTS_IT}"
        return replace(observation, phase=Phase.STOPPED, message=message)
    if observation.starts_over and row.phase in AT_WORK and observation.phase in GATHERING:
        return replace(observation, phase=Phase.PENDING)
    preempted = observation.reason is Reason.PREEMPTED or observation.starts_over
    queued = observation.phase is Phase.PENDING and preempted
    if row.phase in AT_WORK and observation.phase in GATHERING and not queued:
        reason = observation.reason
        if reason is Reason.NONE and row.reason == Reason.RESTARTING:
            reason = Reason.RESTARTING  # not all ranks of the next attempt run yet
        message = observation.message or RANKS_START_AGAIN
        return replace(observation, phase=Phase.DEGRADED, reason=reason, message=message)
    began = row.phase == Phase.INITIALIZING or _had_all_nodes(observation)
    if began and observation.phase is Phase.PENDING and not queued:
        return replace(observation, phase=Phase.INITIALIZING)
    if row.phase in WAITING and observation.phase is Phase.DEGRADED:
        return _as_waiting(observation)
    return observation


def _had_all_nodes(observation: Observation) -> bool:
    ranks = observation.ranks
    if not any(rank.lost_its_node for rank in ranks):
        return False
    return all(rank.node or rank.lost_its_node for rank in ranks)


def _as_waiting(observation: Observation) -> Observation:
    """Return the observation as Pending, if some ranks have no node yet."""
    unplaced = sum(_is_unplaced(rank) for rank in observation.ranks)
    if not unplaced:
        return observation
    message = observation.message
    if not observation.cause and observation.reason is Reason.NONE:
        message = f"Waiting for {unplaced} of {len(observation.ranks)} ranks."
    return replace(observation, phase=Phase.PENDING, message=message)


def _is_unplaced(rank: RankState) -> bool:
    return rank.phase is RankPhase.PENDING and not rank.node and not rank.lost_its_node
