"""Indexes: one for each sort order of the workloads table (see ``workloads.table.keyset``), and
those for what the sweep looks up every few seconds."""

from django.db import models
from django.db.models import Q

SORTED_BY = (
    "created_at completed_at name framework phase num_pods gpus cpu_cores memory_bytes image "
    "pending_seconds running_seconds "
    "project"  # not a sort order, but the filter of every researcher's page
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
    # A covering index for the search: without a match it reads no whole rows.
    models.Index(
        fields=["created_at", "id", "name", "image", "project", "created_by", "deleted_at"],
        name="table_search",
    ),
]

#: Partial indexes: only workloads that have the limit.
LIMIT_INDEXES = [
    models.Index(
        fields=["phase"],
        condition=Q(deleted_at=None, **{f"{limit}_limit_seconds__isnull": False}),
        name=f"workload_{limit}_limit",
    )
    for limit in ("time", "idle")
]
