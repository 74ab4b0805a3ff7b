"""What runs and has a limit in its spec, whichever limit it is."""

from collections.abc import Iterator

from clusters.models import State
from spec.phases import AT_WORK
from workloads.models import Workload

COLUMNS = {"time_limit_seconds": "timeLimitSeconds", "idle_limit_seconds": "idleLimitSeconds"}


def limited(limit: str, *columns: str) -> Iterator[tuple[Workload, int]]:
    """Workloads at work that have this limit, with its seconds; of each the ``columns`` are read.
    Those of a silent cluster are left out: nobody knows what they do. What has no such limit costs
    nothing, for its column has an index."""
    rows = Workload.objects.filter(phase__in=AT_WORK, deleted_at=None)
    has_limit = rows.filter(**{f"{limit}__isnull": False})
    heard = has_limit.exclude(cluster__state=State.DISCONNECTED).order_by()
    for workload in heard.only(limit, *columns):
        yield workload, getattr(workload, limit)


def copy_from_specs() -> None:
    """Limits of rows that lack them. The web processes of the version before continue while a new
    one starts, and what is submitted there has its limits in the spec alone."""
    rows = Workload.objects.filter(phase__in=AT_WORK, deleted_at=None).order_by()
    for column, key in COLUMNS.items():
        path = f"spec_json__{key}"
        left_out = rows.filter(**{column: None, f"{path}__isnull": False}).exclude(**{path: None})
        for pk, seconds in left_out.values_list("pk", path):
            if isinstance(seconds, int):  # a spec of other rules may say anything
                Workload.objects.filter(pk=pk).update(**{column: seconds})
