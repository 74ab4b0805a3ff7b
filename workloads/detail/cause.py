"""Find out why a workload failed or waits: the one cause that people should read first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from spec.phases import MAY_HAVE_CAUSE, WAITING, Phase, Reason
from workloads import logs
from workloads.detail.exit_codes import advice, describe_exit
from workloads.diagnosis import BY_ID, FailureClass
from workloads.diagnosis.ranks import sort_by_failure
from workloads.history.causes import BarShare, bar_shares
from workloads.logs.choice import FIRST_ERROR
from workloads.logs.reading import merge
from workloads.logs.text import plain_text
from workloads.models import CausePeriod, Rank, Workload

LAST_LINES = 20
LINES_BEFORE = 6  # lines before the decisive one, if that is not among the last
REMOVED = ("was evicted", "lost its pod")  # how messages of ranks begin whose pod was taken away
SHORTEST_WAIT = timedelta(seconds=1)


@dataclass(frozen=True)
class FailureLine:
    """A line of the failed rank's log. ``decisive`` marks the one that shows the cause."""

    text: str
    decisive: bool = False


@dataclass(frozen=True)
class FirstFailure:
    """The failure to show: the rank that failed first or made the others fail, its last lines, and
    the failure class that they show.

    ``rank`` is ``None`` if no rank failed. ``log`` is the query string of the log page, which opens
    it at the decisive line if there is one.
    """

    title: str
    message: str
    todo: str
    rank: Rank | None
    lines: list[FailureLine]
    failure_class: FailureClass | None = None
    log: str = ""


@dataclass(frozen=True)
class Wait:
    """Why a workload waits, and since when. ``shares`` are the nodes that each reason rules out, of
    ``total`` nodes."""

    message: str
    since: datetime
    cause: CausePeriod | None = None
    shares: list[BarShare] = field(default_factory=list)
    total: int = 0


def first_failure(workload: Workload, ranks: Iterable[Rank]) -> FirstFailure | None:
    """Return why the workload failed; ``None`` unless its phase is Failed."""
    if workload.phase != Phase.FAILED:
        return None
    failed_ranks = sort_by_failure(ranks)
    failure_class = BY_ID.get(workload.failure_class)
    todo = failure_class.repair if failure_class else advice(workload.reason)
    is_out_of_time = workload.reason == Reason.DEADLINE_EXCEEDED
    if not failed_ranks or is_out_of_time:
        title = "It was stopped" if is_out_of_time else "It did not start"
        return FirstFailure(title, workload.message, todo, None, [], failure_class)
    first = failed_ranks[0]
    decisive_number = workload.failure_line.get("rank")
    rank = next((rank for rank in failed_ranks if rank.rank == decisive_number), first)
    return FirstFailure(
        title=f"{rank.name} (rank {rank.rank}) {_describe_end(rank, is_first=rank == first)}",
        message=workload.message,
        todo=todo,
        rank=rank,
        lines=read_last_lines(workload, rank.rank),
        failure_class=failure_class,
        log=_log_query(workload, rank.rank),
    )


def _log_query(workload: Workload, rank: int) -> str:
    line = workload.failure_line
    if line.get("rank") != rank or line.get("offset", -1) < 0:
        return f"rank={rank}"
    return f"rank={rank}&line={FIRST_ERROR}"


def _describe_end(rank: Rank, *, is_first: bool) -> str:
    was_removed = rank.reason == Reason.PREEMPTED or rank.message.startswith(REMOVED)
    if was_removed and rank.message:
        return rank.message
    if rank.reason == Reason.LOST and rank.exit_code is None:
        return "disappeared without an exit code"
    description = describe_exit(rank.exit_code) or rank.message or "it failed"
    if rank.reason == Reason.OUT_OF_MEMORY and rank.message:
        # The limit says more than the signal that enforced it.
        description = rank.message
    if is_first:
        return f"failed first: {description}"
    return f"caused the others to fail: {description}"


def read_last_lines(workload: Workload, rank: int) -> list[FailureLine]:
    """Read the last lines of the rank, from its last attempt with any output. If the decisive line
    is earlier, read the lines around it instead. If the log is gone, only that line is left."""
    decisive = workload.failure_line
    streams = [
        stream
        for stream in logs.streams(workload.pk)
        if stream.rank == rank and stream.run == workload.run and logs.size(stream)
    ]
    if not streams:
        text = decisive.get("text", "")
        return [FailureLine(text, decisive=True)] if text else []
    offset = decisive.get("offset", -1)
    if offset >= 0:
        attempt = decisive["attempt"]
        streams = [stream for stream in streams if stream.attempt == attempt] or streams
    last_stream = streams[-1:]
    lines = merge.last_window(last_stream, limit=LAST_LINES, unfinished=True).lines
    if lines and 0 <= offset < lines[0].offset:
        before = merge.window_before(last_stream, {rank: offset}, limit=LINES_BEFORE).lines
        after = merge.window_after(
            last_stream, {rank: offset}, limit=LAST_LINES - len(before)
        ).lines
        lines = before + after
    return [FailureLine(plain_text(line.data), decisive=line.offset == offset) for line in lines]


def current_wait(workload: Workload, causes: Sequence[CausePeriod]) -> Wait | None:
    """Return why the workload waits; ``None`` if it does not. ``causes`` are those of the current
    run, oldest first."""
    cause = next((cause for cause in causes if cause.until is None), None)
    if workload.phase not in (MAY_HAVE_CAUSE if cause else WAITING):
        return None
    if cause is None:
        message = workload.message or "It is being checked."
        return Wait(message, workload.queued_at)
    total = int(cause.evidence.get("total", 0))
    return Wait(cause.title, cause.since, cause, ruled_out_shares(cause), total)


def wait_history(workload: Workload) -> list[CausePeriod]:
    """Return what the current run waited for, oldest first, without waits under a second."""
    causes = workload.causes.filter(run=workload.run).order_by("since", "pk")
    return [
        cause
        for cause in causes
        if cause.until is None or cause.until - cause.since >= SHORTEST_WAIT
    ]


def ruled_out_shares(cause: CausePeriod) -> list[BarShare]:
    """Return the bar of nodes that each reason rules out."""
    counts = [(str(label), int(nodes)) for label, nodes in cause.evidence.get("shares", [])]
    return bar_shares(counts, int(cause.evidence.get("total", 0)))
