"""The models of a template and of its links to the assets that its draft names."""

from django.db import models
from django.urls import reverse

from assets.asset import Asset
from assets.fields import DocumentField
from assets.links import AssetLink
from projects.scopes import ScopedQuerySet, scope_constraints
from spec.draft import WorkloadDraft
from spec.formats.documents import order_draft_keys
from spec.formats.stored import drop_invalid_parts


class Template(Asset):
    """A draft to start from. It may be incomplete. Links to the assets that it names are in a table
    of their own."""

    RESOURCE = "templates"

    draft_json = DocumentField(WorkloadDraft, default=dict)

    objects = ScopedQuerySet["Template"].as_manager()

    class Meta:
        ordering = ["name"]
        constraints = scope_constraints("template")

    def get_absolute_url(self) -> str:
        return reverse("template-detail", args=[self.pk])

    @property
    def draft(self) -> WorkloadDraft:
        """The draft, without the parts that can no longer be read."""
        return drop_invalid_parts(WorkloadDraft, order_draft_keys(self.draft_json))


class TemplateAsset(AssetLink):
    """An asset that a template names."""

    HOLDER = "template"
    GROUPS = ("templates",)

    template = models.ForeignKey(Template, on_delete=models.CASCADE, related_name="assets")

    class Meta:
        indexes = [models.Index(fields=["kind", "asset_id"], name="template_asset")]
        constraints = [
            models.UniqueConstraint(
                fields=["template", "role", "kind", "asset_id"], name="template_asset_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.asset_id}"
