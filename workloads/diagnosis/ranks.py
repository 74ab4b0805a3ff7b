"""Which rank failed first, and what the end of a rank says without its log."""

from collections.abc import Iterable
from datetime import datetime

from django.utils.timezone import now

from spec.phases import RankPhase, Reason
from workloads.diagnosis.base import FailureClass
from workloads.diagnosis.classes import CLASSES
from workloads.models import Rank

# How ranks end when another one took them along.
COLLATERAL = frozenset({-15, 143, -9, 137})


def in_order_of_failure(ranks: Iterable[Rank]) -> list[Rank]:
    """Those that had to give way first; then, as they ended, those that failed by themselves, not
    with the others."""
    failed = [rank for rank in ranks if rank.phase == RankPhase.FAILED and _began(rank)]
    last = now()
    return sorted(
        failed,
        key=lambda r: (
            r.reason != Reason.PREEMPTED,
            r.exit_code in COLLATERAL,
            r.finished_at or last,
            r.rank,
        ),
    )


def _began(rank: Rank) -> bool:
    """Not so where the cluster refused the gang: then no rank is to blame. One whose program could
    not be started has a node and no exit code."""
    return rank.exit_code is not None or rank.started_at is not None or bool(rank.node)


def by_its_end(rank: Rank, earliest: datetime | None = None) -> FailureClass | None:
    """What the engine says of the end of a rank, or else its exit code. One that was killed after
    the ``earliest`` end of all was taken along."""
    for one in CLASSES:
        if rank.reason in one.reasons and one.says_so(rank.message):
            return one
    code = rank.exit_code
    if code in COLLATERAL and earliest and rank.finished_at and rank.finished_at > earliest:
        return None
    signal = -code if code is not None and code < 0 else (code or 0) - 128
    return next((one for one in CLASSES if signal in one.signals or code in one.codes), None)
