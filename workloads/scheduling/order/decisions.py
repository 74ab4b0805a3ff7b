"""Store decisions of admission, so that people can see later why a workload started when it did.

Only changed decisions are stored, all of a round in one statement, for a limited time.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Max
from django.utils import timezone

from clusters.models import Cluster
from workloads.models import AdmissionDecision, Workload
from workloads.scheduling.order.records import Decision, DecisionKind

RETENTION = timedelta(days=7)
MAX_DECISIONS = 20_000  # decisions kept per cluster


def store_decisions(cluster: Cluster, news: Sequence[tuple[Workload, Decision]]) -> None:
    """Store the changed decisions of one round."""
    now = timezone.now()
    AdmissionDecision.objects.bulk_create(
        AdmissionDecision(
            cluster=cluster,
            workload=workload,
            other_id=UUID(decision.other.key) if decision.other else None,
            at=now,
            kind=decision.kind,
            reason=decision.reason,
            why=decision.why,
        )
        for workload, decision in news
    )


def is_news(last: AdmissionDecision | None, decision: Decision) -> bool:
    """Whether a decision differs from the workload's last one. Another gang at the head of the
    queue makes no difference to those behind it."""
    if last is None or decision.kind is not DecisionKind.WAIT:
        return True
    if (last.kind, last.reason) != (decision.kind, decision.reason):
        return True
    still_behind = last.other_id is not None and decision.other is not None
    return last.why != decision.why and not still_behind


def last_decisions(workloads: Collection[Workload]) -> dict[UUID, AdmissionDecision]:
    """The last decision about each workload, by its id."""
    if not workloads:
        return {}
    own = AdmissionDecision.objects.filter(workload__in=workloads)
    newest = own.order_by().values("workload").annotate(last=Max("pk")).values("last")
    return {row.workload_id: row for row in AdmissionDecision.objects.filter(pk__in=newest)}


def prune(now: datetime) -> None:
    AdmissionDecision.objects.filter(at__lt=now - RETENTION).delete()
    for cluster in Cluster.objects.all():
        own = AdmissionDecision.objects.filter(cluster=cluster)
        newest = own.order_by("-pk").values_list("pk", flat=True)
        if surplus := newest[MAX_DECISIONS : MAX_DECISIONS + 1]:
            own.filter(pk__lte=surplus[0]).delete()
