"""Each order of the workloads table has an index; see ``workloads.table.keyset``. What the sweep
looks for every few seconds has one, too."""

from django.db import models
from django.db.models import Q

SORTED_BY = (
    "created_at completed_at name framework phase num_pods gpus cpu_cores memory_bytes image "
    "pending_seconds running_seconds "
    "project"  # not an order, but the first thing that a researcher's page asks for
).split()

TABLE_INDEXES = [
    models.Index(
        fields=[*dict.fromkeys((field, "created_at", "id"))],
        condition=Q(deleted_at=None),
        name=f"table_by_{field}",
    )
    for field in SORTED_BY
] + [
    models.Index(
        fields=["deleted_at", "created_at", "id"],
        condition=Q(deleted_at__isnull=False),
        name="table_of_deleted",
    ),
    # All that a search looks at, so that one without a match reads no whole rows.
    models.Index(
        fields=["created_at", "id", "name", "image", "project", "created_by", "deleted_at"],
        name="table_search",
    ),
]

#: Only of what has such a limit.
LIMIT_INDEXES = [
    models.Index(
        fields=["phase"],
        condition=Q(deleted_at=None, **{f"{limit}_limit_seconds__isnull": False}),
        name=f"workload_{limit}_limit",
    )
    for limit in ("time", "idle")
]
