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

MAX_PER_LINE = 50  # workloads judged per line
REQUEST_COLUMNS = ("project_id", "num_pods", "gpus", "cpu_cores", "memory_bytes")
BEHIND = "Waiting behind others of its project that request the same and were submitted before."
#: Reasons of a workload's own, which are kept wherever it is in the line.
KEPT_REASONS = (Reason.PREEMPTED, Reason.REFUSED)


def workloads_to_judge(cluster: Cluster) -> list[Workload]:
    """Workloads to judge, in order of arrival. One with an unreadable spec does not hold up its
    line."""
    waiting = Workload.objects.waiting().filter(cluster=cluster)
    first_rows = list(waiting.select_related("project__department")[: MAX_PER_LINE + 1])
    return first_rows if len(first_rows) <= MAX_PER_LINE else _first_of_each_line(cluster)


def _first_of_each_line(cluster: Cluster) -> list[Workload]:
    position = Window(
        RowNumber(),
        partition_by=[
            *map(F, REQUEST_COLUMNS),
            ExpressionWrapper(Q(reason=Reason.REFUSED), output_field=BooleanField()),
        ],
        order_by=["queued_at", "pk"],
    )
    waiting = Workload.objects.waiting().filter(cluster=cluster)
    first = waiting.order_by().annotate(place=position).filter(place__lte=MAX_PER_LINE)
    chosen = waiting.filter(pk__in=list(first.values_list("pk", flat=True)))
    return list(chosen.select_related("project__department"))


def unexplained(cluster: Cluster, judged: Iterable[UUID]) -> WorkloadQuerySet:
    """Workloads behind the judged ones that do not say so yet."""
    waiting = Workload.objects.waiting().filter(cluster=cluster).exclude(message=BEHIND)
    pks = set(waiting.exclude(reason__in=KEPT_REASONS).values_list("pk", flat=True)) - set(judged)
    return Workload.objects.waiting().filter(pk__in=pks)
