"""What runs and has a limit in its spec, whichever limit it is."""

from collections.abc import Iterator

from clusters.models import State
from spec.phases import AT_WORK
from workloads.models import Workload


def limited(limit: str, *columns: str) -> Iterator[tuple[Workload, int]]:
    """Workloads at work that have this limit, with its seconds; of each the ``columns`` are read.
    Those of a silent cluster are left out: nobody knows what they do. What has no such limit costs
    nothing, for its column has an index."""
    rows = Workload.objects.filter(phase__in=AT_WORK, deleted_at=None)
    has_limit = rows.filter(**{f"{limit}__isnull": False})
    heard = has_limit.exclude(cluster__state=State.DISCONNECTED).order_by()
    for workload in heard.only(limit, *columns):
        yield workload, getattr(workload, limit)
