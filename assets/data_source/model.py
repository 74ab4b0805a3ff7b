"""The models of a data source and of its link to a credential."""

from typing import TYPE_CHECKING, Any

from django.db import models
from django.urls import reverse
from pydantic import ValidationError

from assets.asset import Asset
from assets.fields import DocumentField
from assets.links import AssetLink
from projects.scopes import ScopedQuerySet, scope_constraints
from spec.data import data_source

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager

    from assets.data_source.datasets.model import DatasetVersion


class DataSource(Asset):
    """Where data is and how pods get it (``spec.data_source``)."""

    RESOURCE = "data-sources"

    spec_json = DocumentField(data_source.DataSourceSpec, default=dict)

    objects = ScopedQuerySet["DataSource"].as_manager()

    if TYPE_CHECKING:
        versions: "RelatedManager[DatasetVersion]"

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
        """Its spec; ``None`` if current rules no longer accept it."""
        try:
            return self.spec
        except ValidationError:
            return None

    def storage(self, path: str = "") -> tuple[str, dict[str, Any]]:
        """Return the list of a pod's ``storage`` that it belongs to, and its item there. A dataset
        has none itself; see :mod:`assets.data_source.datasets.uses`.

        ``path`` is another path in the container than its own.
        """
        spec = self.spec
        item = spec.item_at(path)
        if spec.pvc:
            item["claimName"] = self.claim_name
        return spec.kind.value, item

    @property
    def claim_name(self) -> str:
        """The name of its claim in each project: the one it has, or else one that does not change
        when it is renamed."""
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
