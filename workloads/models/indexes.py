"""Each order of the workloads table has an index; see ``workloads.table.keyset``."""

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
