"""Links from a workload to the assets it was made with."""

from typing import Any

from django.db import models

from assets.links import AssetLink
from spec.kind import WorkloadKind
from workloads.models.queries import WorkloadQuerySet
from workloads.models.workload import Workload


class WorkloadAsset(AssetLink):
    """An asset, or the template, that a workload was submitted with."""

    HOLDER = "workload"
    GROUPS = tuple(kind.traits.path for kind in WorkloadKind)

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
    def rest_entry(cls, holder: Workload) -> tuple[str, dict[str, Any]]:
        entry = {"id": str(holder.pk), "name": holder.name, "status": holder.phase}
        return WorkloadKind(holder.kind).traits.path, entry

    @classmethod
    def holders(cls) -> WorkloadQuerySet:
        """Workloads that are not deleted."""
        return Workload.objects.filter(deleted_at=None)
