"""Which workloads, and how much of each."""

from typing import TYPE_CHECKING, Self

from django.db import models
from django.db.models import Q

from accounts import access
from accounts.models import User
from spec.phases import ACTIVE, HOLDING, TERMINAL, Phase

if TYPE_CHECKING:
    from workloads.models.workload import Workload  # noqa: F401 -- named below, in a string

# What an observation is compared with and moves.
STANDING = (
    "project",
    "cluster",
    "num_pods",
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


def reach(user: User, action: str = "workloads.read") -> Q:
    """The workloads to which someone may do it."""
    columns = {"project": "project", "department": "project__department", "cluster": "cluster"}
    return access.reach(user, action, **columns)


class WorkloadQuerySet(models.QuerySet["Workload"]):
    def within_reach(self, user: User, action: str = "workloads.read") -> Self:
        """Those to which someone may do it, the deleted ones that are kept included."""
        return self.filter(reach(user, action))

    def open_to(self, user: User, action: str) -> Self:
        """Those to which someone may do it. Deleted ones are gone."""
        return self.within_reach(user, action).filter(deleted_at=None)

    def visible_to(self, user: User) -> Self:
        return self.open_to(user, "workloads.read")

    def deleted_for(self, user: User) -> Self:
        """Deleted ones that are kept, which someone may look at."""
        return self.within_reach(user).filter(deleted_at__isnull=False)

    def named(self, part: str) -> Self:
        """Those with this in their name, the newest first."""
        return self.filter(name__icontains=part).order_by("-created_at", "-pk")

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

    def names_asking_for(self, pool: str) -> list[str]:
        """Of those that may run in a node pool and name it."""
        asking = self.filter(deleted_at=None).exclude(spec_json__nodePools=[])
        rows = asking.exclude(phase__in=TERMINAL).order_by("name")
        named = rows.values_list("name", "spec_json__nodePools")
        return [name for name, pools in named if pool in (pools or ())]

    def for_list(self) -> Self:
        rows = self.select_related("project", "cluster", "created_by")
        return rows.defer("manifest_json")  # large, and only read where one is asked for

    def standing(self, *also: str) -> Self:
        """How each stands and no more, for what is done often. The rest is read when asked for."""
        return self.only(*STANDING, *also)
