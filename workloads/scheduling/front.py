"""The front of the queue: the part that admission judges, however many workloads wait.

Among a project's workloads with equal requests, a younger one never starts before an older one,
time limits aside. So only the first few of each such line are loaded and judged. Those behind say
so, in words that stay true as the line moves.
"""

from collections.abc import Iterable
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, F, Q, Window
from django.db.models.functions import RowNumber

from clusters.models import Cluster
from spec.phases import Reason
from workloads.models import Workload, WorkloadQuerySet

EACH = 50  # workloads judged per line
ASK = ("project_id", "num_pods", "gpus", "cpu_cores", "memory_bytes")
BEHIND = "Waiting behind others of its project that request the same and were submitted before."
#: Reasons of a workload's own, which are kept wherever it is in the line.
KEPT = (Reason.PREEMPTED, Reason.REFUSED)


def judged(cluster: Cluster) -> list[Workload]:
    """Workloads to judge, in order of arrival. One with an unreadable spec does not hold up its
    line."""
    waiting = Workload.objects.waiting().filter(cluster=cluster)
    few = list(waiting.select_related("project__department")[: EACH + 1])
    return few if len(few) <= EACH else _first_of_each_line(cluster)


def _first_of_each_line(cluster: Cluster) -> list[Workload]:
    place = Window(
        RowNumber(),
        partition_by=[
            *map(F, ASK),
            ExpressionWrapper(Q(reason=Reason.REFUSED), output_field=BooleanField()),
        ],
        order_by=["queued_at", "pk"],
    )
    waiting = Workload.objects.waiting().filter(cluster=cluster)
    first = waiting.order_by().annotate(place=place).filter(place__lte=EACH)
    chosen = waiting.filter(pk__in=list(first.values_list("pk", flat=True)))
    return list(chosen.select_related("project__department"))


def silent(cluster: Cluster, before: Iterable[UUID]) -> WorkloadQuerySet:
    """Workloads behind the judged ones that do not say so yet."""
    waiting = Workload.objects.waiting().filter(cluster=cluster).exclude(message=BEHIND)
    pks = set(waiting.exclude(reason__in=KEPT).values_list("pk", flat=True)) - set(before)
    return Workload.objects.waiting().filter(pk__in=pks)
