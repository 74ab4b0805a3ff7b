"""Keeping what admission decides, so that people can read later why a workload started when it did.

A row is written where a decision changes, all of a round in one statement, and only for so long.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import OuterRef, Subquery
from django.utils import timezone

from clusters.models import Cluster
from workloads.models import AdmissionDecision, Workload
from workloads.scheduling.order.records import Decision

RETENTION = timedelta(days=7)
MOST = 20_000  # of a cluster
BEHIND = "Waiting behind "


def keep(cluster: Cluster, news: Sequence[tuple[Workload, Decision]]) -> None:
    """All of one round."""
    at = timezone.now()
    AdmissionDecision.objects.bulk_create(
        AdmissionDecision(
            cluster=cluster,
            workload=workload,
            other_id=UUID(decision.other.key) if decision.other else None,
            at=at,
            kind=decision.kind,
            reason=decision.reason,
            why=decision.why,
        )
        for workload, decision in news
    )


def is_news(before: str, decision: Decision) -> bool:
    """Whether it says something else than ``before``. The next one at the head of the queue changes
    nothing for those behind it."""
    still_behind = before.startswith(BEHIND) and decision.why.startswith(BEHIND)
    return before != decision.why and not still_behind


def last_words(workloads: Collection[Workload]) -> dict[UUID, str]:
    """Why, as it was decided of each last."""
    if not workloads:
        return {}
    last = AdmissionDecision.objects.filter(workload=OuterRef("pk")).order_by("-pk")
    rows = Workload.objects.filter(pk__in=[it.pk for it in workloads])
    why = rows.annotate(why=Subquery(last.values("why")[:1])).values_list("pk", "why")
    return {pk: text or "" for pk, text in why}


def prune(now: datetime) -> None:
    AdmissionDecision.objects.filter(at__lt=now - RETENTION).delete()
    for cluster in Cluster.objects.all():
        own = AdmissionDecision.objects.filter(cluster=cluster)
        newest = own.order_by("-pk").values_list("pk", flat=True)
        if surplus := newest[MOST : MOST + 1]:
            own.filter(pk__lte=surplus[0]).delete()
