"""Decisions of admission, round by round, for the page that shows them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from uuid import UUID

from django.core.paginator import Page, Paginator
from django.http import QueryDict

from accounts.models import User
from clusters.models import Cluster
from core.web.query import parse_number, search_text
from projects.models import Project
from workloads.models import AdmissionDecision, DecisionQuerySet, Workload
from workloads.scheduling.order.records import DecisionKind

PAGE_SIZE = 50
LABELS = {
    DecisionKind.START: ("Started", "success"),
    DecisionKind.WAIT: ("Waits", "warning"),
    DecisionKind.PREEMPT: ("Taken back", "danger"),
}


@dataclass(frozen=True)
class DecisionRow:
    """A decision. ``other`` is the other workload in it, or ``None`` if the reader may not see that
    workload."""

    workload: Workload
    label: str
    tone: str
    why: str
    other: Workload | None


@dataclass(frozen=True)
class AdmissionRound:
    """The decisions of one round."""

    at: datetime
    rows: list[DecisionRow]


@dataclass(frozen=True)
class DecisionFilter:
    """A filter of decisions. ``name`` is part of a workload's name; ``project`` and ``workload``
    are ids."""

    name: str = ""
    project: int | None = None
    workload: UUID | None = None

    @classmethod
    def from_query(cls, query: QueryDict) -> "DecisionFilter":
        return cls(search_text(query, "q"), parse_number(query.get("project", "")))

    def __bool__(self) -> bool:
        return bool(self.name or self.project is not None)

    def apply(self, rows: DecisionQuerySet) -> DecisionQuerySet:
        if self.name:
            rows = rows.filter(workload__name__icontains=self.name)
        if self.project is not None:
            rows = rows.filter(workload__project=self.project)
        return rows if self.workload is None else rows.filter(workload=self.workload)


def read_page(
    cluster: Cluster, user: User, chosen: DecisionFilter, number: str | None
) -> Page[AdmissionDecision]:
    """Read a page of decisions in a cluster, newest first. An invalid page number means the first
    or the last page."""
    rows = chosen.apply(visible_decisions(cluster, user)).for_page()
    return Paginator(rows, PAGE_SIZE).get_page(number)


def visible_decisions(cluster: Cluster, user: User) -> DecisionQuerySet:
    return AdmissionDecision.objects.filter(cluster=cluster).visible_to(user)


def pair_with_others(
    decisions: Iterable[AdmissionDecision], user: User
) -> list[tuple[AdmissionDecision, Workload | None]]:
    """Pair each decision with the other workload in it, or with ``None`` if the reader may not see
    that workload."""
    rows = list(decisions)
    other_ids = {decision.other_id for decision in rows if decision.other_id}
    visible = Workload.objects.within_reach(user).in_bulk(other_ids) if other_ids else {}
    return [(decision, visible.get(decision.other_id)) for decision in rows]


def group_into_rounds(page: Page[AdmissionDecision], user: User) -> list[AdmissionRound]:
    """Group the page's decisions by round. All decisions of a round have the same time."""
    pairs = pair_with_others(page.object_list, user)
    return [
        AdmissionRound(at, [_decision_row(*pair) for pair in pairs_of_round])
        for at, pairs_of_round in groupby(pairs, key=lambda pair: pair[0].at)
    ]


def _decision_row(decision: AdmissionDecision, other: Workload | None) -> DecisionRow:
    label, tone = LABELS[DecisionKind(decision.kind)]
    return DecisionRow(decision.workload, label, tone, decision.why, other)


def visible_projects(cluster: Cluster, user: User) -> list[Project]:
    return list(Project.objects.visible_to(user).filter(cluster=cluster).order_by("name"))
