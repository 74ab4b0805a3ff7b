"""REST: pods of all workloads, and the history of one workload, in Run:ai's form."""

from datetime import datetime
from typing import Literal, Self
from uuid import UUID

from django.db.models import QuerySet
from ninja import Field, Query, Router

from accounts.api.tokens import ApiRequest
from accounts.models import User
from core.rest.api import Count, NextOffset, Pages, Wire
from core.rest.filters import (
    DATE,
    ID,
    NUMBER,
    TEXT,
    Fields,
    Filtered,
    SortParameters,
    filter_queryset,
    sort_queryset,
    word_choices,
)
from spec.phases import RankPhase
from workloads.api.lookup import find_with_deleted
from workloads.api.observed import EventOut, PodOut
from workloads.api.reads.listing import EventsOfOne, PodList
from workloads.api.words import EventType, PhaseWord
from workloads.models import Event, Rank, Workload

router = Router(tags=["Workloads"])
FIELDS: Fields = {
    "workloadId": ("workload_id", ID),
    "workloadName": ("workload__name", TEXT),
    "projectId": ("workload__project_id", NUMBER),
    "clusterId": ("workload__cluster_id", ID),
    "nodeName": ("node", TEXT),
    "k8sPhase": ("phase", word_choices(RankPhase)),
    "createdAt": ("workload__created_at", DATE),
    "completedAt": ("finished_at", DATE),
}


class PodNarrowing(Filtered):
    deleted: bool = Field(
        default=False, description="true: pods of deleted workloads that are still kept"
    )

    def rows(self, user: User) -> QuerySet[Rank]:
        workloads = Workload.objects
        among = workloads.deleted_for(user) if self.deleted else workloads.visible_to(user)
        rows = filter_queryset(Rank.objects.filter(workload__in=among), self.filter_by, FIELDS)
        return rows.filter(workload__name__icontains=self.search) if self.search else rows


class PodListing(Pages, SortParameters, PodNarrowing):
    completed: Literal["all", "true", "false"] = Field(
        default="all", description="true: pods that have ended; false: the others"
    )


@router.get("/pods", response=PodList, by_alias=True, operation_id="list_pods")
def list_pods(request: ApiRequest, listing: Query[PodListing]) -> PodList:
    """Pods of all workloads that you can see, page by page."""
    rows = sort_queryset(listing.rows(request.user), listing, FIELDS)
    if listing.completed != "all":
        rows = rows.filter(finished_at__isnull=listing.completed == "false")
    page, following = listing.cut(rows.select_related("workload__project"))
    return PodList(pods=[PodOut.of(rank, rank.workload) for rank in page], next=following)


@router.get("/pods/count", response=Count, by_alias=True, operation_id="count_pods")
def count_pods(request: ApiRequest, narrowing: Query[PodNarrowing]) -> Count:
    """The number of pods that match the filters."""
    return Count(count=narrowing.rows(request.user).count())


class RecordMeta(Wire):
    creation_timestamp: datetime = Field(description="When it happened")
    type: EventType = Field(description="Its type")


class PhaseUpdate(Wire):
    phase: PhaseWord = Field(description="The phase it is in")
    phase_message: str = Field(description="What it says about its phase; empty if nothing")


class RecordSpec(Wire):
    """One of the two is set, as ``meta.type`` says."""

    event: EventOut | None = Field(default=None, description="The event, if it is one")
    phase_update: PhaseUpdate | None = Field(
        default=None, description="The new phase, if it changed"
    )


class HistoryRecord(Wire):
    meta: RecordMeta = Field(description="What kind of record it is, and when it happened")
    spec: RecordSpec = Field(description="The event or the new phase")

    @classmethod
    def of(cls, event: Event) -> Self:
        event_out = EventOut.of(event)
        meta = RecordMeta(creation_timestamp=event.at, type=event_out.type)
        if not event.phase:
            return cls(meta=meta, spec=RecordSpec(event=event_out))
        update = PhaseUpdate(phase=event.phase, phase_message=event.message)
        return cls(meta=meta, spec=RecordSpec(phase_update=update))


class History(Wire):
    records: list[HistoryRecord] = Field(description="Changes of phase and events, newest first")
    next: NextOffset


@router.get(
    "/{uuid:workload_id}/history",
    response=History,
    by_alias=True,
    operation_id="read_workload_history",
)
def workload_history(request: ApiRequest, workload_id: UUID, query: Query[EventsOfOne]) -> History:
    """Changes of phase and other events, newest first. The same as ``/events``, in Run:ai's other
    form."""
    workload = find_with_deleted(request, workload_id, deleted=query.deleted)
    page, following = query.cut(query.rows(workload))
    return History(records=[HistoryRecord.of(event) for event in page], next=following)
