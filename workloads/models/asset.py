"""What a workload was made with."""

from django.db import models

from assets.links import AssetLink
from workloads.models.queries import WorkloadQuerySet
from workloads.models.workload import Workload


class WorkloadAsset(AssetLink):
    """An asset that a workload was submitted with, its template included."""

    HOLDER = "workload"

    workload = models.ForeignKey(Workload, on_delete=models.CASCADE, related_name="assets")

    class Meta:
        indexes = [models.Index(fields=["kind", "asset_id"], name="workload_asset")]
        constraints = [
            models.UniqueConstraint(
                fields=["workload", "role", "kind", "asset_id"], name="workload_asset_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.asset_id}"

    @classmethod
    def holders(cls) -> WorkloadQuerySet:
        """Without those that were deleted."""
        return Workload.objects.filter(deleted_at=None)
