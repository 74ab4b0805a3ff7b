"""Keeping the samples of a workload bounded: the older they are, the fewer are left."""

from collections.abc import Sequence

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from workloads.models import Sample, SampleKind, Workload

MOST = 20_000  # of one kind and workload
LOOK_EVERY = 500  # samples; counting at each one would cost more than it saves
CHUNK = 500


def consider(workload: Workload, added: Sequence[Sample]) -> None:
    """After samples were added: now and then look whether there are too many."""
    if added and any(sample.pk % LOOK_EVERY == 0 for sample in added):
        thin(workload, SampleKind(added[0].kind))


def thin(workload: Workload, kind: SampleKind) -> int:
    """Drop every other sample of each rank in the older half; returns how many.

    Done again and again it leaves recent samples whole and old ones ever sparser.
    """
    samples = Sample.objects.filter(workload=workload, kind=kind)
    count = samples.count()
    if count <= MOST:
        return 0
    middle = samples.order_by("at", "id").values_list("at", flat=True)[count // 2]
    number = Window(RowNumber(), partition_by=[F("rank")], order_by=[F("at"), F("id")])
    older = samples.filter(at__lt=middle).order_by().annotate(number=number)
    doomed = [pk for pk, place in older.values_list("pk", "number") if place % 2 == 0]
    for start in range(0, len(doomed), CHUNK):
        Sample.objects.filter(pk__in=doomed[start : start + CHUNK]).delete()
    return len(doomed)
