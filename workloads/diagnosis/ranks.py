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
    """Failed ranks: preempted ones first, then those that failed by their own fault, and last those
    stopped because of them; each in the order in which they ended."""
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
    """The failure class of a rank's end, from the engine's reason or else its exit code. ``None``
    for a rank that was killed after the ``earliest`` end of all, because another had failed."""
    for one in CLASSES:
        if rank.reason in one.reasons and one.fits_message(rank.message):
            return one
    code = rank.exit_code
    if code in COLLATERAL and earliest and rank.finished_at and rank.finished_at > earliest:
        return None
    signal = -code if code is not None and code < 0 else (code or 0) - 128
    return next((one for one in CLASSES if signal in one.signals or code in one.codes), None)
