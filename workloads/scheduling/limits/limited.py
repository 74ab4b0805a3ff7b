"""Find running workloads with a limit in their spec."""

from collections.abc import Iterator

from django.db.models import Q

from clusters.models import State
from spec.phases import AT_WORK
from workloads.models import Workload

COLUMNS = {"time_limit_seconds": "timeLimitSeconds", "idle_limit_seconds": "idleLimitSeconds"}


def limited(limit: str, *columns: str) -> Iterator[tuple[Workload, int]]:
    """Yield running workloads that have this ``limit``, with its seconds. Only the limit and
    ``columns`` are loaded. Workloads of a disconnected cluster are left out: nobody knows what they
    do."""
    rows = Workload.objects.filter(phase__in=AT_WORK, deleted_at=None)
    has_limit = rows.filter(**{f"{limit}__isnull": False})
    heard = has_limit.exclude(cluster__state=State.DISCONNECTED).order_by()
    for workload in heard.only(limit, *columns):
        yield workload, getattr(workload, limit)


def copy_from_specs() -> None:
    """Copy limits from specs to rows without them. While a new version starts, web processes of the
    earlier one may still create rows that have their limits only in the spec. The time limits of
    batch scripts are left out: which of them are Slurm's is in the scripts."""
    rows = Workload.objects.filter(phase__in=AT_WORK, deleted_at=None).order_by()
    no_script = Q(spec_json__batchScript__isnull=True) | Q(spec_json__batchScript=None)
    for column, key in COLUMNS.items():
        path = f"spec_json__{key}"
        left_out = rows.filter(**{column: None, f"{path}__isnull": False}).exclude(**{path: None})
        if column == "time_limit_seconds":
            left_out = left_out.filter(no_script)
        for pk, seconds in left_out.values_list("pk", path):
            if isinstance(seconds, int):  # a spec from other rules may contain anything
                Workload.objects.filter(pk=pk).update(**{column: seconds})
