"""Report on the cluster's page what keeps its workloads from running, if that is the cluster's
fault.

A missing operator, webhook or scheduler shows only in the workloads that wait for it.
"""

from datetime import timedelta

from django.db.models import Count, Max
from django.utils import timezone

from clusters import health, services
from clusters.models import Cluster
from engines.findings import Finding, Level
from spec.problems.causes import CauseKind
from workloads.models import CausePeriod

BRIEF = timedelta(seconds=5)  # an operator may take this long for a new job
MAX_FINDINGS = 5  # findings


def store_findings(cluster: Cluster) -> None:
    """Store the findings. If they changed, have the whole cluster checked again."""
    if services.store_waiting_findings(cluster, findings(cluster)):
        health.request_check(cluster)


def findings(cluster: Cluster) -> tuple[Finding, ...]:
    """A finding for each such cause, the most frequent first."""
    since = timezone.now() - BRIEF
    open_ones = CausePeriod.objects.filter(until=None, kind=CauseKind.OPERATOR, since__lt=since)
    if not open_ones.exists():
        return ()  # the usual case; the join below would be slower
    waits = open_ones.filter(workload__cluster=cluster, workload__deleted_at=None)
    rows = waits.values("title").annotate(number=Count("pk"), todo=Max("todo"))
    return tuple(
        Finding(
            services.WORKLOADS,
            row["title"],
            Level.ISSUE,
            _waits_in_words(row["number"], row["todo"]),
        )
        for row in rows.order_by("-number", "title")[:MAX_FINDINGS]
    )


def _waits_in_words(number: int, todo: str) -> str:
    return f"{number} workloads wait. {todo}" if number > 1 else f"A workload waits. {todo}"
