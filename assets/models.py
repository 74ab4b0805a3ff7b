"""Reusable pieces of a workload: environments, compute resources, and templates of whole drafts."""

import uuid
from typing import TYPE_CHECKING

from django.db import models
from django.urls import reverse

from accounts.models import User
from assets.scopes import Scoped, ScopedQuerySet, scope_constraints
from spec import compute, environment
from spec.draft import WorkloadDraft
from spec.environment import UidGidSource
from spec.workload import Framework

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager


class Asset(Scoped):
    """What all kinds share."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=63)
    description = models.CharField(max_length=250, blank=True)
    created_by = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


class Environment(Asset):
    """An image with its command, variables, tools and rights (``spec.environment``)."""

    distributed = models.BooleanField("Workload architecture: distributed", default=True)
    framework = models.CharField(
        max_length=20, blank=True, choices=[(f.value, f.label) for f in Framework]
    )
    spec_json = models.JSONField(default=dict)
    override_uid_gid = models.BooleanField("Allow UID/GID changes in the workload", default=False)

    objects = ScopedQuerySet["Environment"].as_manager()

    if TYPE_CHECKING:
        templates: RelatedManager["Template"]

    class Meta:
        ordering = ["name"]
        constraints = scope_constraints("environment")

    def get_absolute_url(self) -> str:
        return reverse("environment-detail", args=[self.pk])

    @property
    def leaves_ids(self) -> bool:
        """Whether a workload may have another UID, GID and groups than those said here."""
        custom = self.spec_json.get("security", {}).get("uidGidSource") == UidGidSource.CUSTOM
        return custom and self.override_uid_gid

    def unfit_for(self, framework: str) -> str:
        """Why a distributed workload of this framework cannot use it; empty when it can."""
        if not self.distributed:
            return "made for standard workloads, and this one is distributed"
        if self.framework in {"", framework}:
            return ""
        return f"made for {Framework(self.framework).label}"

    @property
    def spec(self) -> environment.Environment:
        return environment.Environment.model_validate(self.spec_json)


class ComputeResource(Asset):
    """What one pod asks of its node (``spec.compute``)."""

    spec_json = models.JSONField(default=dict)

    objects = ScopedQuerySet["ComputeResource"].as_manager()

    if TYPE_CHECKING:
        templates: RelatedManager["Template"]

    class Meta:
        ordering = ["name"]
        constraints = scope_constraints("compute")

    def get_absolute_url(self) -> str:
        return reverse("compute-detail", args=[self.pk])

    @property
    def spec(self) -> compute.Compute:
        return compute.Compute.model_validate(self.spec_json)


class Template(Asset):
    """A draft to start from. It may be incomplete; the assets it names are remembered apart."""

    draft_json = models.JSONField(default=dict)
    environments = models.ManyToManyField(Environment, related_name="templates", blank=True)
    compute_resources = models.ManyToManyField(
        ComputeResource, related_name="templates", blank=True
    )

    objects = ScopedQuerySet["Template"].as_manager()

    class Meta:
        ordering = ["name"]
        constraints = scope_constraints("template")

    def get_absolute_url(self) -> str:
        return reverse("template-detail", args=[self.pk])

    @property
    def draft(self) -> WorkloadDraft:
        return WorkloadDraft.model_validate(self.draft_json)
