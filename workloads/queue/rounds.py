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

A_PAGE = 50
LABELS = {
    DecisionKind.START: ("Started", "success"),
    DecisionKind.WAIT: ("Waits", "warning"),
    DecisionKind.TAKE_BACK: ("Taken back", "danger"),
}


@dataclass(frozen=True)
class DecisionRow:
    """A decision. ``other`` is the other workload in it, or ``None`` if the reader may not see
    that."""

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
    """A filter. ``name`` is part of a workload's name, ``project`` and ``workload`` are ids."""

    name: str = ""
    project: int | None = None
    workload: UUID | None = None

    @classmethod
    def of(cls, query: QueryDict) -> "DecisionFilter":
        return cls(search_text(query, "q"), parse_number(query.get("project", "")))

    def __bool__(self) -> bool:
        return bool(self.name or self.project is not None)

    def apply(self, rows: DecisionQuerySet) -> DecisionQuerySet:
        if self.name:
            rows = rows.filter(workload__name__icontains=self.name)
        if self.project is not None:
            rows = rows.filter(workload__project=self.project)
        return rows if self.workload is None else rows.filter(workload=self.workload)


def page_of(
    cluster: Cluster, user: User, chosen: DecisionFilter, number: str | None
) -> Page[AdmissionDecision]:
    """A page of decisions in a cluster, newest first. An invalid page number means the first or
    last."""
    rows = chosen.apply(visible_in(cluster, user)).for_page()
    return Paginator(rows, A_PAGE).get_page(number)


def visible_in(cluster: Cluster, user: User) -> DecisionQuerySet:
    return AdmissionDecision.objects.filter(cluster=cluster).visible_to(user)


def with_others(
    decisions: Iterable[AdmissionDecision], user: User
) -> list[tuple[AdmissionDecision, Workload | None]]:
    """Each decision with the other workload in it, or ``None`` if the reader may not see that."""
    rows = list(decisions)
    others = {it.other_id for it in rows if it.other_id}
    visible = Workload.objects.within_reach(user).in_bulk(others) if others else {}
    return [(it, visible.get(it.other_id)) for it in rows]


def rounds_of(page: Page[AdmissionDecision], user: User) -> list[AdmissionRound]:
    decisions = with_others(page.object_list, user)
    return [
        AdmissionRound(at, [_row(*pair) for pair in rows])
        for at, rows in groupby(decisions, key=lambda pair: pair[0].at)
    ]


def _row(decision: AdmissionDecision, other: Workload | None) -> DecisionRow:
    label, tone = LABELS[DecisionKind(decision.kind)]
    return DecisionRow(decision.workload, label, tone, decision.why, other)


def projects_on(cluster: Cluster, user: User) -> list[Project]:
    return list(Project.objects.visible_to(user).filter(cluster=cluster).order_by("name"))
