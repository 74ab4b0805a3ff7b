"""Why a workload failed, or why it waits: one cause, first of all others."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.utils.timezone import now

from spec.phases import Phase, RankPhase, Reason
from workloads import logs
from workloads.logs import merge
from workloads.models import Cause, Rank, Workload
from workloads.page.text import shown
from workloads.page.words import advice, exit_in_words

LAST_LINES = 20
# How ranks end when another one took them along.
COLLATERAL = frozenset({-15, 143, -9, 137})
WAITING = frozenset({Phase.CREATING, Phase.PENDING, Phase.RESUMING})
# With a cause it waits in these, too: for its image, or for a rank that was lost.
HELD_UP = WAITING | {Phase.INITIALIZING, Phase.DEGRADED}
BRIEF = timedelta(seconds=1)
MOST_SHARES = 8  # of a bar; the rest is one share


@dataclass(frozen=True)
class Failure:
    """The first failing rank, where there is one, with its last words."""

    title: str
    message: str
    todo: str
    rank: Rank | None
    lines: list[str]


@dataclass(frozen=True)
class Share:
    """A piece of a bar, which is 100 wide in all: so many nodes that one reason rules out."""

    label: str
    nodes: int
    start: float
    width: float


@dataclass(frozen=True)
class Wait:
    """Why it waits, since when, and what people can do."""

    message: str
    since: datetime
    cause: Cause | None = None
    shares: list[Share] = field(default_factory=list)
    total: int = 0


def failure(workload: Workload, ranks: Iterable[Rank]) -> Failure | None:
    if workload.phase != Phase.FAILED:
        return None
    rank = first_failing(ranks)
    todo = advice(workload.reason)
    if rank is None:
        return Failure("It did not start", workload.message, todo, None, [])
    title = f"{rank.name} (rank {rank.rank}) {_ended(rank)}"
    return Failure(title, workload.message, todo, rank, last_lines(workload, rank.rank))


def _ended(rank: Rank) -> str:
    if rank.reason == Reason.PREEMPTED and rank.message:
        return rank.message
    if rank.reason == Reason.LOST and rank.exit_code is None:
        return "is gone without an exit code"
    # A limit says more than the signal that enforced it.
    limited = rank.reason == Reason.OUT_OF_MEMORY and rank.message
    words = limited or exit_in_words(rank.exit_code) or rank.message or "it failed"
    return f"failed first: {words}"


def _began(rank: Rank) -> bool:
    """Not so where the cluster refused the gang: then no rank is to blame. One whose program could
    not be started has a node and no exit code."""
    return rank.exit_code is not None or rank.started_at is not None or bool(rank.node)


def first_failing(ranks: Iterable[Rank]) -> Rank | None:
    """The rank that had to give way; else the one that ended first of those that failed by
    themselves, not with the others."""
    failed = [rank for rank in ranks if rank.phase == RankPhase.FAILED and _began(rank)]
    last = now()
    return min(
        failed,
        key=lambda r: (
            r.reason != Reason.PREEMPTED,
            r.exit_code in COLLATERAL,
            r.finished_at or last,
            r.rank,
        ),
        default=None,
    )


def last_lines(workload: Workload, rank: int) -> list[str]:
    """What the rank printed last, in the last attempt in which it printed anything."""
    mine = [s for s in logs.streams(workload.pk) if s.rank == rank and s.run == workload.run]
    if not mine:
        return []
    window = merge.tail([mine[-1]], limit=LAST_LINES, unfinished=True)
    return [shown(line.data) for line in window.lines]


def wait(workload: Workload, causes: Sequence[Cause]) -> Wait | None:
    """``causes`` are those of the present run, oldest first."""
    cause = next((one for one in causes if one.until is None), None)
    if workload.phase not in (HELD_UP if cause else WAITING):
        return None
    if cause is None:
        message = workload.message or "It is about to be looked at."
        return Wait(message, workload.queued_at)
    total = int(cause.evidence.get("total", 0))
    return Wait(cause.title, cause.since, cause, shares(cause), total)


def history(workload: Workload) -> list[Cause]:
    """What this run waited for, oldest first; nobody asks about less than a second."""
    causes = workload.causes.filter(run=workload.run).order_by("since", "pk")
    return [one for one in causes if one.until is None or one.until - one.since >= BRIEF]


def shares(cause: Cause) -> list[Share]:
    """Nodes may be ruled out by more than one reason; the bar then shows the reasons' parts."""
    counted = [(str(label), int(nodes)) for label, nodes in cause.evidence.get("shares", [])]
    shown, rest = counted[:MOST_SHARES], counted[MOST_SHARES:]
    if rest:
        shown.append(("other reasons", sum(nodes for _, nodes in rest)))
    whole = max(sum(nodes for _, nodes in shown), int(cause.evidence.get("total", 0)), 1)
    found: list[Share] = []
    start = 0.0
    for label, nodes in shown:
        width = 100 * nodes / whole
        found.append(Share(label, nodes, round(start, 2), round(width, 2)))
        start += width
    return found
