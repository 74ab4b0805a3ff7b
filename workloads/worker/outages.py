"""What keeps workloads from running and is the cluster's own fault: its page tells it as well.

An operator, a webhook or a scheduler that is away shows in nothing but what waits for it.
"""

from datetime import timedelta

from django.db.models import Count, Max
from django.utils import timezone

from clusters import services
from clusters.models import Cluster
from engines.findings import Finding, Level
from spec.problems.causes import CauseKind
from workloads.models import CausePeriod

BRIEF = timedelta(seconds=5)  # an operator may take so long for a new job
MOST = 5  # findings


def tell(cluster: Cluster) -> None:
    """Where it changed what is away, all of the cluster is looked at anew."""
    if services.tell(cluster, findings(cluster)):
        services.ask(cluster)


def findings(cluster: Cluster) -> tuple[Finding, ...]:
    """One for each thing that workloads wait for, first what most of them do."""
    since = timezone.now() - BRIEF
    open_ones = CausePeriod.objects.filter(until=None, kind=CauseKind.OPERATOR, since__lt=since)
    if not open_ones.exists():
        return ()  # mostly; with their workloads the database would look at all of these instead
    waits = open_ones.filter(workload__cluster=cluster, workload__deleted_at=None)
    rows = waits.values("title").annotate(number=Count("pk"), todo=Max("todo"))
    return tuple(
        Finding(services.WORKLOADS, row["title"], Level.ISSUE, _words(row["number"], row["todo"]))
        for row in rows.order_by("-number", "title")[:MOST]
    )


def _words(number: int, todo: str) -> str:
    return f"{number} workloads wait. {todo}" if number > 1 else f"A workload waits. {todo}"
