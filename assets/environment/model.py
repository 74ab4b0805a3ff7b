"""The model of an environment."""

from django.db import models
from django.urls import reverse

from assets.asset import Asset
from assets.fields import DocumentField
from core.database.choices import Choices
from projects.scopes import ScopedQuerySet, scope_constraints
from spec.formats.stored import as_mapping
from spec.framework import Framework
from spec.kind import KindTraits
from spec.parts import environment
from spec.parts.environment import UidGidSource


def frameworks() -> Choices:
    return [(framework.value, framework.label) for framework in Framework]


class Environment(Asset):
    """An image with its command, variables, tools and permissions (``spec.environment``)."""

    RESOURCE = "environments"

    distributed = models.BooleanField("Workload architecture: distributed", default=True)
    framework = models.CharField(max_length=20, blank=True, choices=frameworks)
    spec_json = DocumentField(environment.Environment, default=dict)
    override_uid_gid = models.BooleanField("Allow UID/GID changes in the workload", default=False)

    objects = ScopedQuerySet["Environment"].as_manager()

    class Meta:
        ordering = ["name"]
        constraints = scope_constraints("environment")

    def get_absolute_url(self) -> str:
        return reverse("environment-detail", args=[self.pk])

    @property
    def allows_own_ids(self) -> bool:
        """Whether a workload may have another UID, GID and groups than this environment."""
        security = as_mapping(as_mapping(self.spec_json).get("security"))
        custom = security.get("uidGidSource") == UidGidSource.CUSTOM
        return custom and self.override_uid_gid

    def unfit_for(self, framework: str) -> str:
        """Why a distributed workload of this framework cannot use it; empty if it can.

        A workload of one pod has no framework, and can use any environment.
        """
        if not framework:
            return ""
        if not self.distributed:
            return "for standard workloads only; this one is distributed"
        if self.framework in {"", framework}:
            return ""
        return f"for {Framework(self.framework).label}"

    def distance(self, kind: KindTraits, framework: str) -> int:
        """Return how well it fits; less is better. Workspaces prefer tools in an image that is not
        distributed, and gangs prefer their framework."""
        if kind.is_gang:
            return int(self.framework != framework)
        has_tools = bool(as_mapping(self.spec_json).get("connections"))
        return 2 * (has_tools == kind.completes) + int(self.distributed)

    @property
    def spec(self) -> environment.Environment:
        return environment.Environment.model_validate(self.spec_json)
