"""The QuerySet of workloads: who may see which, and which columns a use needs."""

from typing import TYPE_CHECKING, Self

from django.db import models
from django.db.models import Q

from accounts import access
from accounts.models import User
from spec.phases import ACTIVE, HOLDING_RESOURCES, TERMINAL, Phase

if TYPE_CHECKING:
    from workloads.models.workload import Workload  # noqa: F401 -- named below, in a string

# The columns that an observation is compared with, or changes.
STATE_COLUMNS = (
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


def reach_filter(user: User, action: str = "workloads.read") -> Q:
    """A filter for workloads on which ``user`` may perform ``action``."""
    columns = {"project": "project", "department": "project__department", "cluster": "cluster"}
    return access.permitted_rows(user, action, **columns)


class WorkloadQuerySet(models.QuerySet["Workload"]):
    def within_reach(self, user: User, action: str = "workloads.read") -> Self:
        """Workloads on which ``user`` may perform ``action``, including deleted ones that are still
        kept."""
        return self.filter(reach_filter(user, action))

    def open_to(self, user: User, action: str) -> Self:
        """Workloads on which ``user`` may perform ``action``, without deleted ones."""
        return self.within_reach(user, action).filter(deleted_at=None)

    def visible_to(self, user: User) -> Self:
        return self.open_to(user, "workloads.read")

    def deleted_for(self, user: User) -> Self:
        """Deleted workloads that are still kept and that ``user`` may see."""
        return self.within_reach(user).filter(deleted_at__isnull=False)

    def named(self, part: str) -> Self:
        """Workloads whose name contains ``part``, newest first."""
        return self.filter(name__icontains=part).order_by("-created_at", "-pk")

    def active(self) -> Self:
        """Workloads that neither ended nor were stopped: the cluster still works on them."""
        return self.filter(phase__in=ACTIVE, deleted_at=None)

    def holding(self) -> Self:
        """Workloads that hold resources of their cluster, or are about to give them back."""
        return self.filter(phase__in=HOLDING_RESOURCES, deleted_at=None)

    def occupying(self) -> Self:
        """Workloads that take up space on machines: they hold resources, or are being deleted and
        have pods that still run."""
        leaving = Q(phase=Phase.DELETING, running_pods__gt=0)
        return self.filter(Q(phase__in=HOLDING_RESOURCES) | leaving, deleted_at=None)

    def waiting(self) -> Self:
        """Workloads that admission may start, in the order they were queued."""
        return self.filter(phase=Phase.PENDING, deleted_at=None).order_by("queued_at", "pk")

    def names_requesting(self, pool: str) -> list[str]:
        """Return the names of unfinished workloads that request this node pool."""
        requesting = self.filter(deleted_at=None).exclude(spec_json__nodePools=[])
        rows = requesting.exclude(phase__in=TERMINAL).order_by("name")
        pairs = rows.values_list("name", "spec_json__nodePools")
        return [name for name, pools in pairs if pool in (pools or ())]

    def for_list(self) -> Self:
        rows = self.select_related("project", "cluster", "created_by")
        return rows.defer("manifest_json")  # large, and rarely needed

    def with_state_columns(self, *also: str) -> Self:
        """Load only the columns of the current state, plus ``also``, for frequent queries. Others
        are loaded on access."""
        return self.only(*STATE_COLUMNS, *also)
