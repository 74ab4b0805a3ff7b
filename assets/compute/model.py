"""The model of a compute resource."""

from django.urls import reverse

from assets.asset import Asset
from assets.fields import DocumentField
from projects.scopes import ScopedQuerySet, scope_constraints
from spec.parts import compute


class ComputeResource(Asset):
    """What each pod requests of its node (``spec.compute``)."""

    RESOURCE = "compute-resources"

    spec_json = DocumentField(compute.Compute, default=dict)

    objects = ScopedQuerySet["ComputeResource"].as_manager()

    class Meta:
        ordering = ["name"]
        constraints = scope_constraints("compute")

    def get_absolute_url(self) -> str:
        return reverse("compute-detail", args=[self.pk])

    @property
    def spec(self) -> compute.Compute:
        return compute.Compute.model_validate(self.spec_json)
