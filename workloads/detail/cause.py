"""Why a workload failed or waits: the one cause that people should read first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from spec.phases import HELD_UP, WAITING, Phase, Reason
from workloads import logs
from workloads.detail.exit_codes import advice, exit_in_words
from workloads.diagnosis import BY_ID, FailureClass
from workloads.diagnosis.ranks import sort_by_failure
from workloads.history.causes import BarShare, bar_shares
from workloads.logs.choice import FIRST_ERROR
from workloads.logs.reading import merge
from workloads.logs.text import plain_text
from workloads.models import CausePeriod, Rank, Workload

LAST_LINES = 20
LINES_BEFORE = 6  # the decisive line, if it is not among the last
BRIEF = timedelta(seconds=1)


@dataclass(frozen=True)
class FailureLine:
    """A line of the failed rank's log. ``decisive`` marks the one that shows the cause."""

    text: str
    decisive: bool = False


@dataclass(frozen=True)
class FirstFailure:
    """The failure to show: the rank that failed first or made the others fail, its last lines, and
    the failure class they show. ``rank`` is ``None`` if no rank failed. ``log`` is the query of the
    log page, at the decisive line if there is one."""

    title: str
    message: str
    todo: str
    rank: Rank | None
    lines: list[FailureLine]
    kind: FailureClass | None = None
    log: str = ""


@dataclass(frozen=True)
class Wait:
    """Why a workload waits, and since when. ``shares`` are the nodes ruled out by each reason, of
    ``total`` nodes."""

    message: str
    since: datetime
    cause: CausePeriod | None = None
    shares: list[BarShare] = field(default_factory=list)
    total: int = 0


def failure(workload: Workload, ranks: Iterable[Rank]) -> FirstFailure | None:
    """Why the workload failed; ``None`` unless its phase is Failed."""
    if workload.phase != Phase.FAILED:
        return None
    failed = sort_by_failure(ranks)
    kind = BY_ID.get(workload.failure_class)
    todo = kind.repair if kind else advice(workload.reason)
    out_of_time = workload.reason == Reason.DEADLINE_EXCEEDED
    if not failed or out_of_time:
        title = "It was stopped" if out_of_time else "It did not start"
        return FirstFailure(title, workload.message, todo, None, [], kind)
    first = failed[0]
    rank = next((one for one in failed if one.rank == workload.failure_line.get("rank")), first)
    title = f"{rank.name} (rank {rank.rank}) {_ended(rank, is_first=rank == first)}"
    lines = lines_of(workload, rank.rank)
    return FirstFailure(title, workload.message, todo, rank, lines, kind, _log(workload, rank.rank))


def _log(workload: Workload, rank: int) -> str:
    line = workload.failure_line
    if line.get("rank") != rank or line.get("offset", -1) < 0:
        return f"rank={rank}"
    return f"rank={rank}&line={FIRST_ERROR}"


def _ended(rank: Rank, *, is_first: bool) -> str:
    if rank.reason == Reason.PREEMPTED and rank.message:
        return rank.message
    if rank.reason == Reason.LOST and rank.exit_code is None:
        return "disappeared without an exit code"
    # The limit says more than the signal that enforced it.
    limited = rank.reason == Reason.OUT_OF_MEMORY and rank.message
    words = limited or exit_in_words(rank.exit_code) or rank.message or "it failed"
    return f"failed first: {words}" if is_first else f"caused the others to fail: {words}"


def lines_of(workload: Workload, rank: int) -> list[FailureLine]:
    """The last lines of the rank, from its last attempt with any output. If the decisive line is
    earlier, the lines around that one instead; if the log is gone, only that line."""
    decisive = workload.failure_line
    own = [s for s in logs.streams(workload.pk) if s.rank == rank and s.run == workload.run]
    if not own:
        text = decisive.get("text", "")
        return [FailureLine(text, decisive=True)] if text else []
    offset = decisive.get("offset", -1)
    own = [s for s in own if offset >= 0 and s.attempt == decisive["attempt"]] or own
    lines = merge.last_window(own[-1:], limit=LAST_LINES, unfinished=True).lines
    if lines and 0 <= offset < lines[0].offset:
        before = merge.window_before(own[-1:], {rank: offset}, limit=LINES_BEFORE).lines
        lines = merge.window_after(own[-1:], {rank: offset}, limit=LAST_LINES - len(before)).lines
        lines = before + lines
    return [FailureLine(plain_text(line.data), decisive=line.offset == offset) for line in lines]


def wait(workload: Workload, causes: Sequence[CausePeriod]) -> Wait | None:
    """Why the workload waits; ``None`` if it does not. ``causes`` are those of the current run,
    oldest first."""
    cause = next((one for one in causes if one.until is None), None)
    if workload.phase not in (HELD_UP if cause else WAITING):
        return None
    if cause is None:
        message = workload.message or "It is being checked."
        return Wait(message, workload.queued_at)
    total = int(cause.evidence.get("total", 0))
    return Wait(cause.title, cause.since, cause, shares(cause), total)


def history(workload: Workload) -> list[CausePeriod]:
    """What the current run waited for, oldest first, without waits under a second."""
    causes = workload.causes.filter(run=workload.run).order_by("since", "pk")
    return [one for one in causes if one.until is None or one.until - one.since >= BRIEF]


def shares(cause: CausePeriod) -> list[BarShare]:
    """The bar of nodes that each reason rules out."""
    counted = [(str(label), int(nodes)) for label, nodes in cause.evidence.get("shares", [])]
    return bar_shares(counted, int(cause.evidence.get("total", 0)))
