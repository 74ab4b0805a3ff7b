"""Limit the number of a workload's samples: the older they are, the fewer are kept."""

from collections.abc import Sequence

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from workloads.models import Sample, SampleKind, Workload

MOST_SAMPLES = 20_000  # per kind and workload
CHECK_EVERY = 500  # samples between two checks; counting each time would cost more than it saves
CHUNK = 500


def thin_if_due(workload: Workload, added: Sequence[Sample]) -> None:
    """After adding samples, check from time to time whether there are too many."""
    if added and any(sample.pk % CHECK_EVERY == 0 for sample in added):
        thin_samples(workload, SampleKind(added[0].kind))


def thin_samples(workload: Workload, kind: SampleKind) -> int:
    """Delete every second sample of each rank in the older half, and return how many.

    Repeated, this keeps recent samples complete and thins out old ones more and more.
    """
    samples = Sample.objects.filter(workload=workload, kind=kind)
    count = samples.count()
    if count <= MOST_SAMPLES:
        return 0
    middle = samples.order_by("at", "id").values_list("at", flat=True)[count // 2]
    number = Window(RowNumber(), partition_by=[F("rank")], order_by=[F("at"), F("id")])
    older = samples.filter(at__lt=middle).order_by().annotate(number=number)
    excess = [pk for pk, number in older.values_list("pk", "number") if number % 2 == 0]
    for start in range(0, len(excess), CHUNK):
        Sample.objects.filter(pk__in=excess[start : start + CHUNK]).delete()
    return len(excess)
