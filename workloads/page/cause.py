"""Why a workload failed, or why it waits: one cause, first of all others."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils.timezone import now

from spec.phases import Phase, RankPhase, Reason
from workloads import logs
from workloads.logs import merge
from workloads.models import Rank, Workload
from workloads.page.text import shown
from workloads.page.words import advice, exit_in_words

LAST_LINES = 20
# How ranks end when another one took them along.
COLLATERAL = frozenset({-15, 143, -9, 137})
WAITING = frozenset({Phase.CREATING, Phase.PENDING, Phase.RESUMING})


@dataclass(frozen=True)
class Failure:
    """The first failing rank, where there is one, with its last words."""

    title: str
    message: str
    todo: str
    rank: Rank | None
    lines: list[str]


@dataclass(frozen=True)
class Wait:
    """Why it waits, since when, and what people can do."""

    message: str
    since: datetime


def failure(workload: Workload, ranks: Iterable[Rank]) -> Failure | None:
    if workload.phase != Phase.FAILED:
        return None
    rank = first_failing(ranks)
    todo = advice(workload.reason)
    if rank is None:
        return Failure("It did not start", workload.message, todo, None, [])
    # A limit says more than the signal that enforced it.
    limited = rank.reason == Reason.OUT_OF_MEMORY and rank.message
    ended = limited or exit_in_words(rank.exit_code) or rank.message or "it failed"
    title = f"{rank.name} (rank {rank.rank}) failed first: {ended}"
    return Failure(title, workload.message, todo, rank, last_lines(workload, rank.rank))


def _began(rank: Rank) -> bool:
    """Not so where the cluster refused the gang: then no rank is to blame."""
    return rank.exit_code is not None or rank.started_at is not None


def first_failing(ranks: Iterable[Rank]) -> Rank | None:
    """The rank that ended first of those that failed by themselves, not with the others."""
    failed = [rank for rank in ranks if rank.phase == RankPhase.FAILED and _began(rank)]
    last = now()
    return min(
        failed,
        key=lambda r: (r.exit_code in COLLATERAL, r.finished_at or last, r.rank),
        default=None,
    )


def last_lines(workload: Workload, rank: int) -> list[str]:
    """What the rank printed last, in the last attempt in which it printed anything."""
    mine = [s for s in logs.streams(workload.pk) if s.rank == rank and s.run == workload.run]
    if not mine:
        return []
    window = merge.tail([mine[-1]], limit=LAST_LINES, unfinished=True)
    return [shown(line.data) for line in window.lines]


def wait(workload: Workload) -> Wait | None:
    if workload.phase not in WAITING:
        return None
    message = workload.message or "It is about to be looked at."
    return Wait(message, workload.queued_at)
