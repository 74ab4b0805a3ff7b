"""The row of a data source, and its link to the credential that it names."""

from typing import Any

from django.db import models
from django.urls import reverse
from pydantic import ValidationError

from assets.asset import Asset
from assets.links import AssetLink
from projects.scopes import ScopedQuerySet, scope_constraints
from spec.data import data_source


class DataSource(Asset):
    """Where data is and how pods get it (``spec.data_source``)."""

    spec_json = models.JSONField(default=dict)

    objects = ScopedQuerySet["DataSource"].as_manager()

    class Meta:
        ordering = ["name"]
        constraints = scope_constraints("data_source")

    def get_absolute_url(self) -> str:
        return reverse("data-source-detail", args=[self.pk])

    @property
    def spec(self) -> data_source.DataSourceSpec:
        return data_source.DataSourceSpec.model_validate(self.spec_json)

    @property
    def readable_spec(self) -> data_source.DataSourceSpec | None:
        """None where it was written under other rules."""
        try:
            return self.spec
        except ValidationError:
            return None

    def storage(self, path: str = "") -> tuple[str, dict[str, Any]]:
        """The list of a pod's ``storage`` that it belongs to, and its item there, at another
        ``path`` of the container than its own where one is given."""
        spec = self.spec
        item = spec.at(path)
        if spec.pvc:
            item["claimName"] = self.claim_name
        return spec.kind.value, item

    @property
    def claim_name(self) -> str:
        """Of its claim in each project: what it says, or else what stays when it is renamed."""
        pvc = self.spec.pvc
        return (pvc.claim_name if pvc else None) or f"pvc-{self.pk.hex[:12]}"


class DataSourceAsset(AssetLink):
    """A credential that a data source names."""

    HOLDER = "data_source"
    GROUPS = ("dataSources",)

    data_source = models.ForeignKey(DataSource, on_delete=models.CASCADE, related_name="assets")

    class Meta:
        indexes = [models.Index(fields=["kind", "asset_id"], name="data_source_asset")]
        constraints = [
            models.UniqueConstraint(
                fields=["data_source", "role", "kind", "asset_id"], name="data_source_asset_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.asset_id}"
