"""What runs and has a limit in its spec, whichever limit it is."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models.fields.json import KT

from clusters.models import State
from spec.phases import AT_WORK
from workloads.models import Workload


def limited(field: str, *columns: str) -> Iterator[tuple[Workload, float]]:
    """Workloads at work whose spec gives ``field``, with its seconds; of each the ``columns`` are
    read. Those of a silent cluster are left out: nobody knows what they do."""
    heard = Workload.objects.filter(phase__in=AT_WORK, deleted_at=None).exclude(
        cluster__state=State.DISCONNECTED
    )
    key = f"spec_json__{field}"
    rows = heard.filter(**{f"{key}__isnull": False}).exclude(**{key: None})
    each: Iterable[Any] = rows.annotate(limit=KT(key)).only(*columns).order_by()
    for workload in each:
        yield workload, float(workload.limit)
