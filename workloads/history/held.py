"""What workloads held of a resource over time, computed from their events."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db.models import Q

from spec.phases import HOLDING_RESOURCES
from workloads.models import Event, Workload


@dataclass(frozen=True)
class HoldingPeriod:
    """A period in which a workload held resources. It lasts from one change of phase to another;
    ``until`` is ``None`` if it has not ended. ``columns`` are values of the workload."""

    columns: dict[str, Any]
    since: datetime
    until: datetime | None

    def indexes(self, moments: Sequence[datetime]) -> range:
        """Return which of the moments, which are sorted, are in the period."""
        first = bisect_left(moments, self.since)
        last = len(moments) if self.until is None else bisect_left(moments, self.until)
        return range(first, last)


def holding_periods(
    condition: Q, columns: Sequence[str], *, start: datetime, end: datetime
) -> Iterable[HoldingPeriod]:
    """Yield the periods of the workloads that meet the condition, deleted ones included."""
    has_ended_before = Q(completed_at__lt=start) | Q(deleted_at__lt=start)
    workloads = Workload.objects.filter(condition, created_at__lt=end).exclude(has_ended_before)
    values = {row.pop("pk"): row for row in workloads.order_by().values("pk", *columns)}
    events = Event.objects.filter(workload__in=workloads, at__lt=end).exclude(phase="")
    rows = events.order_by("workload_id", "at", "pk").values_list("workload_id", "at", "phase")
    for pk, changes in groupby(rows.iterator(), key=itemgetter(0)):
        since: datetime | None = None
        for _, at, phase in changes:
            if phase in HOLDING_RESOURCES:
                since = since or at
            elif since is not None:
                yield HoldingPeriod(values[pk], since, at)
                since = None
        if since is not None:
            yield HoldingPeriod(values[pk], since, None)


def sum_held(
    condition: Q, column: str, group: str, moments: Sequence[datetime], *, start: datetime
) -> dict[Hashable, list[float]]:
    """Return the sums of a column at each moment, by the value of the column ``group``."""
    sums: dict[Hashable, list[float]] = defaultdict(lambda: [0.0] * len(moments))
    periods = holding_periods(condition, [column, group], start=start, end=moments[-1])
    for period in periods:
        for index in period.indexes(moments):
            sums[period.columns[group]][index] += period.columns[column]
    return sums
