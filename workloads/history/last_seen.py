"""Keep what was last seen of ranks: clusters remove their pods, some before anyone could look."""

from collections.abc import Iterable
from dataclasses import replace

from django.utils import timezone

from engines.base import Observation, RankState
from spec.phases import RANK_ACTIVE, TERMINAL, Phase, RankPhase, Reason
from workloads.models import Rank

#: Reasons with which programs fail by themselves.
PROGRAM_REASONS = frozenset({Reason.COMMAND_NOT_FOUND, Reason.RANK_FAILED, Reason.OUT_OF_MEMORY})
STATE_FIELDS = (
    *("node", "phase", "reason", "message"),
    *("restarts", "exit_code", "started_at", "finished_at"),
)


def rank_state_to_store(row: Rank, state: RankState, observation: Observation) -> RankState:
    """Return the state to store for a rank. If its pod is gone, how it failed before stays; if the
    workload has ended, everything that was last observed does."""
    if state.node:
        return state
    known = {name: getattr(row, name) for name in STATE_FIELDS if name != "phase"}
    if observation.phase in TERMINAL and row.node:
        has_failed = observation.phase is Phase.FAILED and _is_known_to_fail(row)
        return replace(state, **known, phase=RankPhase.FAILED if has_failed else state.phase)
    is_unknown = not (state.message or state.started_at or state.finished_at)
    if is_unknown and state.phase in RANK_ACTIVE and _is_known_to_fail(row):
        return replace(state, **known)
    return state


def _is_known_to_fail(row: Rank) -> bool:
    """Whether the rank failed by itself. One that was started again did before."""
    return bool(row.exit_code or row.restarts or row.reason in PROGRAM_REASONS)


def with_last_failure(rows: Iterable[Rank], observation: Observation) -> Observation:
    """Return the observation of a failed workload with the rank that was last seen to fail as the
    reason, if the cluster names none any more. Controllers remove the pods at the backoff limit,
    and then only tell that it was reached."""
    is_named = any(state.phase is RankPhase.FAILED for state in observation.ranks)
    if observation.phase is not Phase.FAILED or observation.reason is not Reason.RANK_FAILED:
        return observation
    failed = [row for row in rows if row.phase == RankPhase.FAILED]
    if is_named or not failed:
        return observation
    first = min(failed, key=lambda row: (row.finished_at or timezone.now(), row.rank))
    end = first.message or f"exited with code {first.exit_code}"
    words = f"{first.name} (rank {first.rank}) {end}. {observation.message}".strip()
    reason = Reason(first.reason) if first.reason in PROGRAM_REASONS else observation.reason
    return replace(observation, reason=reason, message=words)


def rank_differs(row: Rank, state: RankState) -> bool:
    """Whether the state of a rank is not what is stored."""
    return any(getattr(row, name) != getattr(state, name) for name in STATE_FIELDS)
