"""Turns a Slurm job and the facts of its run into an observation.

The observation of an end depends on records alone, so that it is the same at any time. Other
observations have the time at which the job was read.
"""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from engines.base import Observation, RankState
from engines.shared import leads
from engines.slurm.queue.jobs import BatchJob
from engines.slurm.status import exit
from engines.slurm.status.causes import cause_of
from engines.slurm.status.facts import RankFact, RunFacts
from spec.phases import Phase, RankPhase, Reason
from spec.problems.causes import Cause
from spec.problems.time_limit import time_limit_sentence

END = 10**16  # later than any other: microseconds since 1970 have one digit less
GONE = END + 1
STOP_SIGNALS = {-15, -9}  # such ranks may have been stopped because another one failed
REASONS = {
    "TIMEOUT": (Reason.DEADLINE_EXCEEDED, "It reached the time limit of its Slurm job."),
    "DEADLINE": (Reason.DEADLINE_EXCEEDED, "It could not end before its deadline on Slurm."),
    "NODE_FAIL": (Reason.LOST, "A node of it failed, and Slurm did not start it again."),
    "OUT_OF_MEMORY": (Reason.OUT_OF_MEMORY, "It used more memory than it asked for."),
    "BOOT_FAIL": (Reason.LOST, "A node of it did not boot."),
    "PREEMPTED": (Reason.PREEMPTED, "Slurm gave its nodes to a job with a better claim."),
}
UNKNOWN = (
    "Slurm no longer has its job, and its files do not say how it ended. Stop it, then run it "
    "again."
)
NEVER_STARTED = "Slurm lost its job before it started. Stop it, then run it again."
OUT_OF_MEMORY = ("oom-kill", "oom_kill", "exceeded memory limit", "Exceeded job memory limit")


def observe(
    uid: UUID,
    facts: RunFacts,
    job: BatchJob | None,
    at: datetime,
    *,
    earlier: BatchJob | None = None,
) -> Observation:
    """Return the observation of a run. ``job`` is ``None`` if Slurm does not know it. ``earlier``
    is its last start, if it was queued again and accounting has that start."""
    last = job or facts.verdict
    if facts.finished or (last and last.is_over):
        return _final_observation(uid, facts, last)
    phase, reason, message, cause = _current_state(facts, last, at, earlier)
    return Observation(
        workload_id=uid,
        run=facts.run,
        sequence=int(at.timestamp() * 1e6),
        phase=phase,
        at=at,
        attempt=max(facts.attempt, 0),
        reason=reason,
        message=message,
        ranks=tuple(_ranks(facts, last, phase)),
        cause=cause,
        has_own_ranks=facts.is_script,
    )


def _current_state(
    facts: RunFacts, job: BatchJob | None, at: datetime, earlier: BatchJob | None
) -> tuple[Phase, Reason, str, Cause | None]:
    if job is None:
        message = UNKNOWN if facts.claim else NEVER_STARTED
        return (Phase.STOPPED if facts.stopped else Phase.UNKNOWN), Reason.UNKNOWN, message, None
    if job.is_queued:
        start = job.start if job.start and job.start > at else None
        cause = cause_of(job.reason, start, excess=facts.excess)
        if facts.attempt >= 0:
            return Phase.PENDING, Reason.PREEMPTED, _explain_requeue(earlier), cause
        return Phase.PENDING, cause.reason, cause.message, cause
    if job.state == "CONFIGURING" or not facts.all_started:
        return Phase.INITIALIZING, Reason.NONE, facts.stage, None
    if job.state in {"SUSPENDED", "STOPPED"}:
        return Phase.DEGRADED, Reason.NONE, "An operator of the cluster suspended the job.", None
    return Phase.RUNNING, Reason.NONE, "", None


def _explain_requeue(earlier: BatchJob | None) -> str:
    """Explain why the job was queued again."""
    state, nodes = (earlier.state, earlier.nodes) if earlier else ("", "")
    if state == "NODE_FAIL" and nodes:
        is_list = "[" in nodes or "," in nodes
        return f"{f'One of {nodes}' if is_list else nodes} failed, so Slurm queued it again."
    if state == "PREEMPTED":
        return "Slurm gave its nodes to a job with a better claim and queued it again."
    if state == "REQUEUED":
        return "It was queued again, by its script or by someone on the cluster."
    return "Slurm took its nodes and queued it again."


def _final_observation(uid: UUID, facts: RunFacts, job: BatchJob | None) -> Observation:
    phase, reason, message = _outcome(facts, job)
    at = facts.finished[1] if facts.finished else (job and job.end) or facts.created
    return Observation(
        workload_id=uid,
        run=facts.run,
        sequence=END,
        phase=phase,
        at=at,
        attempt=max(facts.attempt, 0),
        reason=reason,
        message=message,
        ranks=tuple(_ranks(facts, job, phase)),
        has_own_ranks=facts.is_script,
    )


def _outcome(facts: RunFacts, job: BatchJob | None) -> tuple[Phase, Reason, str]:
    code = facts.finished[0] if facts.finished else None
    by_itself = facts.finished and not facts.was_asked
    if facts.stopped and not by_itself:
        return Phase.STOPPED, Reason.STOPPED_BY_USER, ""
    if facts.is_over_limit and not by_itself:
        return Phase.FAILED, Reason.DEADLINE_EXCEEDED, time_limit_sentence(facts.time_limit or 0)
    if code == 0 or (code is None and job and job.state == "COMPLETED"):
        return Phase.COMPLETED, Reason.NONE, _failures_next_to_lead(facts)
    if code is None and job and job.state in REASONS:
        return Phase.FAILED, *REASONS[job.state]
    if code is None and job and job.state == "CANCELLED":
        return Phase.STOPPED, Reason.NONE, ""  # by someone on the cluster
    return Phase.FAILED, *_failure(facts, job)


def _failure(facts: RunFacts, job: BatchJob | None) -> tuple[Reason, str]:
    if facts.trouble:
        return Reason.REFUSED, facts.trouble
    if any(sign in facts.batch_log for sign in OUT_OF_MEMORY):
        return Reason.OUT_OF_MEMORY, "A rank used more memory than it asked for."
    if first := first_failure(facts):
        rank, fact = first
        role, index = facts.roles[rank]
        end = exit.describe_rank_end(fact.code or 0)
        reason = Reason.COMMAND_NOT_FOUND if fact.code == 127 else Reason.RANK_FAILED
        return reason, f"{role}-{index} (rank {rank}) {end}."
    if facts.is_script and facts.finished and facts.ranks:
        code = facts.finished[0]  # above 128 is from a step that srun ended
        end = exit.describe_rank_end(code) if code >= 0 else f"exited with code {128 - code}"
        return Reason.RANK_FAILED, f"The batch script {end}."
    end = exit.describe_job_end(job.exit) if job else ""
    lines = [line for line in facts.batch_log.split("\n") if line.strip()]
    last = next((line for line in lines if "error" in line), lines[-1] if lines else "")
    words = "; ".join(part for part in (end, last.strip()) if part)
    return (
        Reason.RANK_FAILED,
        f"The job failed before its ranks said why{': ' * bool(words)}{words}.",
    )


def _failures_next_to_lead(facts: RunFacts) -> str:
    """Return a sentence about the ranks that failed although their lead succeeded; empty if none
    did."""
    if facts.lead is None:
        return ""
    failures = [
        f"{role}-{index} {exit.describe_rank_end(fact.code)}"
        for rank, (role, index) in enumerate(facts.roles)
        if (fact := facts.ranks.get(rank)) and fact.code and not fact.was_asked
    ]
    lead, _ = facts.roles[facts.lead]
    return leads.describe_failures(lead, failures, only_lead=facts.only_lead)


def first_failure(facts: RunFacts) -> tuple[int, RankFact] | None:
    """Return the rank that is the likely cause: the first that failed before Slurm stopped the
    others."""
    failed = [
        (rank, fact)
        for rank, fact in facts.ranks.items()
        if fact.code and (rank == facts.lead or not facts.only_lead)
    ]
    ordered = sorted(failed, key=lambda it: (it[1].code in STOP_SIGNALS, it[1].ended_ns))
    return ordered[0] if ordered else None


def _ranks(facts: RunFacts, job: BatchJob | None, phase: Phase) -> Iterator[RankState]:
    """Yield the state of each rank. If the job was queued again, these are the ranks of the next
    attempt."""
    waits = bool(job and job.is_queued)
    for rank, (role, index) in enumerate(facts.roles):
        fact = RankFact() if waits else facts.ranks.get(rank, RankFact())
        rank_phase = _phase(fact, phase)
        if _ended_with_gang(rank, fact, facts, phase):
            rank_phase = RankPhase.STOPPED
        yield _rank(rank, role, index, fact, rank_phase, max(facts.attempt, 0))


def _ended_with_gang(rank: int, fact: RankFact, facts: RunFacts, phase: Phase) -> bool:
    """Whether a rank of named roles was ended because the gang was over: its lead had succeeded, or
    another rank had failed."""
    if facts.lead is None or fact.code == 0 or not (fact.was_asked or fact.code is None):
        return False
    first = first_failure(facts)
    is_cause = first is not None and first[0] == rank
    return phase is Phase.COMPLETED or (
        phase is Phase.FAILED and first is not None and not is_cause
    )


def _rank(
    rank: int, role: str, index: int, fact: RankFact, phase: RankPhase, attempt: int
) -> RankState:
    failed = bool(fact.code) and phase is not RankPhase.STOPPED
    return RankState(
        rank=rank,
        role=role,
        index=index,
        phase=phase,
        node=fact.node,
        restarts=attempt,
        exit_code=fact.code,
        reason=Reason.RANK_FAILED if failed else Reason.NONE,
        message=exit.describe_rank_end(fact.code or 0) if fact.code else "",
        started_at=fact.started,
        finished_at=fact.ended,
    )


def _phase(fact: RankFact, phase: Phase) -> RankPhase:
    if fact.code == 0:
        return RankPhase.SUCCEEDED
    if phase is Phase.STOPPED:
        return RankPhase.STOPPED
    if fact.code is not None or phase is Phase.FAILED:
        return RankPhase.FAILED
    if phase is Phase.COMPLETED:
        return RankPhase.SUCCEEDED
    return RankPhase.RUNNING if fact.started else RankPhase.PENDING
