"""REST: the decisions of admission. Not part of Run:ai's API."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from ninja import Field, Query, Router

from accounts.api.tokens import ApiRequest
from clusters.api.clusters import find_cluster
from core.rest.api import NextOffset, Pages, Wire, enum_schema
from core.rest.filters import (
    DATE,
    ID,
    NUMBER,
    TEXT,
    Fields,
    Filtered,
    filter_queryset,
    sort_queryset,
    word_choices,
)
from core.rest.rows import OptionalSort
from workloads.models import Workload
from workloads.queue.rounds import DecisionFilter, pair_with_others, visible_decisions
from workloads.scheduling.order.records import DecisionKind

router = Router(tags=["Clusters"])
FIELDS: Fields = {
    "at": ("at", DATE),
    "decision": ("kind", word_choices(DecisionKind)),
    "why": ("why", TEXT),
    "projectId": ("workload__project_id", NUMBER),
    "workloadId": ("workload_id", ID),
    "workloadName": ("workload__name", TEXT),
}


class WorkloadRef(Wire):
    id: UUID = Field(description="Its ID")
    name: str = Field(description="The name")


class DecisionOut(Wire):
    """``at`` is the same for all decisions of a round. ``decision`` is started, waits or taken
    back. ``other`` is the other workload that it refers to, such as the one that this one waits
    behind; null if you have no access to it."""

    at: datetime = Field(description="When it was decided; the same for all decisions of a round")
    workload: WorkloadRef = Field(description="The workload")
    project_id: str = Field(description="The ID of the project")
    decision: Annotated[str, enum_schema(*DecisionKind)] = Field(
        description="What was decided: started, waits or taken back"
    )
    why: str = Field(description="Why it was decided so")
    other: WorkloadRef | None = Field(
        description=(
            "The workload for which it was stopped or behind which it waits; null if you cannot "
            "see that workload"
        )
    )


class DecisionList(Wire):
    decisions: list[DecisionOut] = Field(description="The decisions, newest first")
    next: NextOffset


class DecisionListing(Pages, OptionalSort, Filtered):
    project_id: int | None = Field(default=None, description="Only those of this project")
    workload_id: UUID | None = Field(default=None, description="Only decisions about this workload")


@router.get("/clusters/{cluster_id}/decisions", response=DecisionList, by_alias=True)
def list_decisions(
    request: ApiRequest, cluster_id: UUID, listing: Query[DecisionListing]
) -> DecisionList:
    """Decisions of admission in a cluster that Trainyard queues for, newest first: why each
    workload started when it did. Only for workloads that you can see."""
    cluster = find_cluster(request, cluster_id)
    chosen = DecisionFilter(listing.search, listing.project_id, listing.workload_id)
    rows = filter_queryset(
        chosen.apply(visible_decisions(cluster, request.user)), listing.filter_by, FIELDS
    )
    page, following = listing.cut(sort_queryset(rows.for_page(), listing, FIELDS))
    decisions = [
        DecisionOut(
            at=row.at,
            workload=_ref(row.workload),
            project_id=str(row.workload.project_id),
            decision=row.kind,
            why=row.why,
            other=_ref(other) if other else None,
        )
        for row, other in pair_with_others(page, request.user)
    ]
    return DecisionList(decisions=decisions, next=following)


def _ref(workload: Workload) -> WorkloadRef:
    return WorkloadRef(id=workload.pk, name=workload.name)
