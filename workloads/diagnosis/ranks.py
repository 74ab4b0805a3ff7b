"""Find the rank that failed first, and classify the end of a rank without its log."""

from collections.abc import Iterable
from datetime import datetime

from django.utils.timezone import now

from spec.phases import RankPhase, Reason
from workloads.diagnosis.base import FailureClass
from workloads.diagnosis.classes import CLASSES
from workloads.models import Rank

# Exit codes of ranks that were stopped because another one failed.
COLLATERAL = frozenset({-15, 143, -9, 137})


def sort_by_failure(ranks: Iterable[Rank]) -> list[Rank]:
    """Return the failed ranks: first those that were preempted, then those that failed by
    themselves, then those that were stopped because of them; each in the order of their ends."""
    failed = [rank for rank in ranks if rank.phase == RankPhase.FAILED and _was_started(rank)]
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


def _was_started(rank: Rank) -> bool:
    """Whether the rank was started at all. If the cluster refused the gang, no rank is to blame. A
    rank whose program could not be started has a node but no exit code."""
    return rank.exit_code is not None or rank.started_at is not None or bool(rank.node)


def class_of_end(rank: Rank, earliest: datetime | None = None) -> FailureClass | None:
    """Return the failure class of a rank's end, from the engine's reason or else its exit code.
    ``None`` for a rank that was killed after the ``earliest`` end of all, because another had
    failed."""
    for failure in CLASSES:
        if rank.reason in failure.reasons and failure.fits_message(rank.message):
            return failure
    code = rank.exit_code
    if code in COLLATERAL and earliest and rank.finished_at and rank.finished_at > earliest:
        return None
    # Engines report signal N as -N, shells as 128 + N.
    signal = -code if code is not None and code < 0 else (code or 0) - 128
    return next((it for it in CLASSES if signal in it.signals or code in it.codes), None)
