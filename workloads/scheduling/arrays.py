"""The limit of a job array: how many of its elements are in hand at once."""

from django.db.models import Count, F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from spec.phases import HANDED_OVER, RUN_REQUESTED, Phase
from workloads.models import Workload, WorkloadQuerySet

#: Waits, runs or ends; a cluster with a queue of its own has it as soon as it was handed over.
IN_HAND = (
    Q(phase__in=HANDED_OVER)
    | Q(phase__in=RUN_REQUESTED, handed_over_at__isnull=False)
    | Q(phase=Phase.DELETING, running_pods__gt=0)
)


def within_limits(requested: WorkloadQuerySet) -> WorkloadQuerySet:
    """Leave out the elements of an array that have to wait until fewer of it are in hand.
    ``requested`` are workloads that were asked to run."""
    elements = Workload.objects.filter(
        project=OuterRef("project"), array_number=OuterRef("array_number"), deleted_at=None
    )
    is_earlier = Q(queued_at__lt=OuterRef("queued_at")) | Q(
        queued_at=OuterRef("queued_at"), pk__lt=OuterRef("pk")
    )
    ahead = elements.filter(IN_HAND | (is_earlier & Q(phase__in=RUN_REQUESTED)))
    count = ahead.order_by().values("array_number").annotate(count=Count("pk")).values("count")
    # Counted in the statement that selects the rows: two processes that read at different times
    # would otherwise take up one element each for the same place.
    annotated = requested.annotate(elements_ahead=Coalesce(Subquery(count), 0))
    return annotated.filter(
        Q(array_limit=None)
        | Q(handed_over_at__isnull=False)
        | Q(elements_ahead__lt=F("array_limit"))
    )
