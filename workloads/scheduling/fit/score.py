"""Compare verdicts at submission with what happened."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from clusters.models import Cluster
from core.templatetags.core import duration
from spec.phases import WAITING, Reason
from spec.problems.causes import CauseKind
from workloads.models import CausePeriod, Event, Workload
from workloads.scheduling.fit.judge import Answer, Fit

SINCE = timedelta(days=30)
NOW_WITHIN_SECONDS = 30  # a gang with the verdict "now" should start within
LATER_SECONDS = 5  # a gang with the verdict "later" should wait at least
WORDS = {
    Answer.NOW: "Starts immediately",
    Answer.LATER: "Will wait",
    Answer.NEVER: "Can never start",
    Answer.UNKNOWN: "Left to the cluster's queue",
}


def verdict_columns(fit: Fit | None) -> dict[str, str]:
    """Columns with the verdict for a new row."""
    if fit is None:
        return {}
    return {"verdict": fit.answer, "verdict_cause": fit.cause.kind if fit.cause else ""}


@dataclass(frozen=True)
class VerdictScore:
    """Statistics of a verdict: how often it ``held`` and was ``missed``. ``named``: how often,
    among those that waited as predicted, the predicted cause was one of the real ones."""

    label: str
    held: int
    missed: int
    named: int = 0
    names: bool = False

    @property
    def judged(self) -> int:
        return self.held + self.missed

    @property
    def rate_in_words(self) -> str:
        return f"{100 * self.held / self.judged:.3g} %" if self.judged else "–"


def verdict_scores(cluster: Cluster) -> list[VerdictScore]:
    """Scores of each verdict that can be right or wrong, and of all together."""
    counted = _count_verdicts(cluster, timezone.now())
    each = [
        VerdictScore(WORDS[answer], *counted.get(answer, (0, 0, 0)), names=answer is Answer.LATER)
        for answer in (Answer.NOW, Answer.LATER, Answer.NEVER)
    ]
    whole = VerdictScore("All", sum(it.held for it in each), sum(it.missed for it in each))
    return [*each, whole]


def _count_verdicts(cluster: Cluster, now: datetime) -> dict[str, tuple[int, int, int]]:
    """Counts by verdict. Undecided cases do not count."""
    rows = Workload.objects.filter(cluster=cluster, created_at__gte=now - SINCE)
    held = (
        Q(verdict=Answer.NOW, first_wait_seconds__lte=NOW_WITHIN_SECONDS)
        | Q(verdict=Answer.LATER) & _waited_longer(LATER_SECONDS, now)
        | Q(verdict=Answer.NEVER, first_wait_seconds=None) & ~Q(phase__in=WAITING)
    )
    missed = (
        Q(verdict=Answer.NOW) & _waited_longer(NOW_WITHIN_SECONDS, now)
        | Q(verdict=Answer.LATER, first_wait_seconds__lte=LATER_SECONDS)
        | Q(verdict=Answer.NEVER, first_wait_seconds__isnull=False)
    )
    sorted_out = rows.exclude(verdict="").order_by().values("verdict")
    counted = sorted_out.annotate(
        held=Count("pk", filter=held),
        missed=Count("pk", filter=missed),
        named=Count("pk", filter=held & Q(verdict=Answer.LATER) & _came_as_predicted()),
    )
    return {row["verdict"]: (row["held"], row["missed"], row["named"]) for row in counted}


def _waited_longer(seconds: float, now: datetime) -> Q:
    """A filter for workloads that waited longer than ``seconds``, whether they started, still wait,
    or were given up."""
    waiting = Q(first_wait_seconds=None, phase__in=WAITING, run=1)
    given_up = Q(first_wait_seconds=None, pending_seconds__gt=seconds) & ~Q(phase__in=WAITING)
    since = Q(created_at__lt=now - timedelta(seconds=seconds))
    return Q(first_wait_seconds__gt=seconds) | waiting & since | given_up


def _came_as_predicted() -> Q:
    own = CausePeriod.objects.filter(workload=OuterRef("pk"), run=1)
    events = Event.objects.filter(workload=OuterRef("pk"))
    return (
        Q(Exists(own.filter(kind=OuterRef("verdict_cause"))))
        | Q(verdict_cause=CauseKind.QUOTA)
        & Q(Exists(events.filter(reason=Reason.WAITING_FOR_QUOTA)))
        | Q(verdict_cause=CauseKind.CAPACITY)
        & Q(Exists(events.filter(reason=Reason.WAITING_FOR_CAPACITY)))
    )


def verdict_in_words(workload: Workload) -> str:
    """The verdict on a workload and what happened, in words; empty without a verdict."""
    if not workload.verdict:
        return ""
    kind = f" ({workload.verdict_cause.lower()})" if workload.verdict_cause else ""
    foreseen = f"{WORDS[Answer(workload.verdict)]}{kind}"
    if workload.first_wait_seconds is None:
        return foreseen
    return f"{foreseen}. It started after {duration(workload.first_wait_seconds)}"
