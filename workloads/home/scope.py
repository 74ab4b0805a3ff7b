"""What the overview is about: all projects that its reader sees, or one of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from accounts.models import User
from clusters.models import Cluster
from core.web.query import parse_number
from projects.models import Project
from workloads.models import Workload, WorkloadQuerySet

EVERYONE = "everyone"
POOLS = "pool"
DEFAULT_PERIOD = "24h"
#: Each period that the chart of GPUs can cover, with its label.
PERIOD_LABELS = {"24h": "24 h", "7d": "7 d", "30d": "30 d"}


@dataclass(frozen=True)
class HomeScope:
    """The state of the page, all of it in its address. ``project`` is ``None`` for all projects;
    ``shows_everyone``: the needs of all people are listed, not only the reader's. ``period`` is
    what the chart of GPUs covers, by project or ``by_pool``."""

    reader: User
    project: Project | None = None
    shows_everyone: bool = False
    period: str = DEFAULT_PERIOD
    by_pool: bool = False

    @classmethod
    def parse(cls, query: QueryDict, reader: User) -> "HomeScope":
        """Parse an address. A project that the reader does not see counts as none."""
        pk = parse_number(query.get("scope", ""))
        project = None
        if pk is not None:
            project = Project.objects.visible_to(reader).filter(pk=pk).first()
        period = query.get("period", "")
        return cls(
            reader,
            project,
            shows_everyone=query.get("needs") == EVERYONE,
            period=period if period in PERIOD_LABELS else DEFAULT_PERIOD,
            by_pool=query.get("by") == POOLS,
        )

    @cached_property
    def projects(self) -> Sequence[Project]:
        """All projects that the reader sees, which the page offers to choose from."""
        rows = Project.objects.visible_to(self.reader)
        rows = rows.select_related("cluster")
        return list(rows.prefetch_related("cluster__pools", "pool_quotas__pool"))

    @property
    def chosen_projects(self) -> Sequence[Project]:
        return [it for it in self.projects if self.project in (None, it)]

    @cached_property
    def clusters(self) -> Sequence[Cluster]:
        """The clusters of the chosen projects, and those that the reader sees without a project."""
        rows = Cluster.objects.visible_to(self.reader)
        if self.project:
            rows = rows.filter(pk=self.project.cluster_id)
        return list(rows)

    def workloads(self) -> WorkloadQuerySet:
        """Return the workloads in scope that the reader sees, unordered."""
        rows = Workload.objects.visible_to(self.reader).order_by()
        return rows.filter(project=self.project) if self.project else rows

    def needing(self) -> WorkloadQuerySet:
        """Return the workloads in scope whose needs are listed."""
        rows = self.workloads()
        return rows if self.shows_everyone else rows.filter(created_by=self.reader)

    def with_changes(self, **changes: Any) -> "HomeScope":
        return replace(self, **changes)

    @property
    def mine(self) -> "HomeScope":
        return self.with_changes(shows_everyone=False)

    @property
    def everyone(self) -> "HomeScope":
        return self.with_changes(shows_everyone=True)

    @property
    def periods(self) -> list[tuple[str, "HomeScope", bool]]:
        """The label of each period, the state with it, and whether it is the chosen one."""
        return [
            (label, self.with_changes(period=period), period == self.period)
            for period, label in PERIOD_LABELS.items()
        ]

    @property
    def groupings(self) -> list[tuple[str, "HomeScope", bool]]:
        """The label of each grouping of the chart, the state with it, and whether it is chosen."""
        return [
            ("By project", self.with_changes(by_pool=False), not self.by_pool),
            ("By node pool", self.with_changes(by_pool=True), self.by_pool),
        ]

    @property
    def query(self) -> str:
        """The query string of the page in this state, with its question mark; empty without."""
        pairs: dict[str, str] = {}
        if self.project:
            pairs["scope"] = str(self.project.pk)
        if self.shows_everyone:
            pairs["needs"] = EVERYONE
        if self.period != DEFAULT_PERIOD:
            pairs["period"] = self.period
        if self.by_pool:
            pairs["by"] = POOLS
        return f"?{urlencode(pairs)}" if pairs else ""

    @property
    def address(self) -> str:
        return reverse("home") + self.query
