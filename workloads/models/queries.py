"""Which workloads, and how much of each."""

from typing import TYPE_CHECKING, Self

from django.db import models
from django.db.models import Q

from accounts.models import User
from projects.models import Project
from spec.phases import ACTIVE, HOLDING, Phase

if TYPE_CHECKING:
    from workloads.models.workload import Workload  # noqa: F401 -- named below, in a string

# What an observation is compared with and moves.
STANDING = (
    "project",
    "cluster",
    "phase",
    "reason",
    "message",
    "phase_updated_at",
    "run",
    "attempt",
    "observed_run",
    "observed_sequence",
    "started_at",
    "deleted_at",
)


class WorkloadQuerySet(models.QuerySet["Workload"]):
    def visible_to(self, user: User) -> Self:
        """Workloads of the user's projects; administrators see all. Deleted ones are gone."""
        present = self.filter(deleted_at=None)
        if user.is_administrator:
            return present
        return present.filter(project__in=Project.objects.visible_to(user))

    def active(self) -> Self:
        """Neither finished nor stopped: the cluster has, or will have, something to do."""
        return self.filter(phase__in=ACTIVE, deleted_at=None)

    def holding(self) -> Self:
        """Has resources of its cluster, or is about to give them back."""
        return self.filter(phase__in=HOLDING, deleted_at=None)

    def occupying(self) -> Self:
        """Has room on its machines: what holds it, and what is being deleted but not gone yet."""
        leaving = Q(phase=Phase.DELETING, running_pods__gt=0)
        return self.filter(Q(phase__in=HOLDING) | leaving, deleted_at=None)

    def waiting(self) -> Self:
        """Those that admission may start, first come first."""
        return self.filter(phase=Phase.PENDING, deleted_at=None).order_by("queued_at", "pk")

    def for_list(self) -> Self:
        return self.select_related("project", "cluster", "created_by")

    def standing(self, *also: str) -> Self:
        """How each stands and no more, for what is done often. The rest is read when asked for."""
        return self.only(*STANDING, *also)
