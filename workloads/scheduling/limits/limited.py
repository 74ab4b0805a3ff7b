"""Find running workloads with a limit in their spec."""

from collections.abc import Iterator

from clusters.models import State
from spec.phases import AT_WORK
from workloads.models import Workload


def workloads_with_limit(limit: str, *columns: str) -> Iterator[tuple[Workload, int]]:
    """Yield running workloads that have this ``limit``, with its seconds. Only the limit and
    ``columns`` are loaded. Workloads of a disconnected cluster are left out: nobody knows what they
    do."""
    rows = Workload.objects.filter(phase__in=AT_WORK, deleted_at=None)
    has_limit = rows.filter(**{f"{limit}__isnull": False})
    connected = has_limit.exclude(cluster__state=State.DISCONNECTED).order_by()
    for workload in connected.only(limit, *columns):
        yield workload, getattr(workload, limit)
