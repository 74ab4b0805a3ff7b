"""What an observation means to people, who follow a workload from its start to its end."""

from dataclasses import replace

from engines.base import Observation
from spec.kind import WorkloadKind
from spec.phases import AT_WORK, GATHERING, WAITING, Phase, RankPhase, Reason
from workloads.models import Workload

ANEW = "Its ranks start again."
ITS_PROGRAM_ENDED = "Its program ended with exit code 0. Run starts it again."


def forward(row: Workload, observation: Observation) -> Observation:
    """As people are told it: no phase goes back within a run. What once ran and gathers its ranks
    again is Degraded until all of them run, what began to start is starting while a rank looks for
    another node; only what was preempted is Pending again. What was never seen whole has lost no
    rank yet, whatever its first ranks do meanwhile: it is Pending. What never completes is stopped
    where its program ends."""
    if observation.phase is Phase.COMPLETED and not WorkloadKind(row.kind).traits.completes:
        return replace(
            observation, phase=Phase.STOPPED, message=observation.message or ITS_PROGRAM_ENDED
        )
    queued = observation.phase is Phase.PENDING and observation.reason is Reason.PREEMPTED
    if row.phase in AT_WORK and observation.phase in GATHERING and not queued:
        return replace(observation, phase=Phase.DEGRADED, message=observation.message or ANEW)
    if row.phase == Phase.INITIALIZING and observation.phase is Phase.PENDING and not queued:
        return replace(observation, phase=Phase.INITIALIZING)
    if row.phase in WAITING and observation.phase is Phase.DEGRADED:
        return _gathering(observation)
    return observation


def _gathering(observation: Observation) -> Observation:
    """Some ranks run, or did, and others have yet to get a place."""
    few = sum(it.phase is RankPhase.PENDING and not it.node for it in observation.ranks)
    if not few:
        return observation
    is_explained = observation.cause or observation.reason is not Reason.NONE
    missing = f"Waiting for {few} of {len(observation.ranks)} ranks."
    words = observation.message if is_explained else missing
    return replace(observation, phase=Phase.PENDING, message=words)
