"""REST: lists of workloads, actions on several at once, and the events and pods of one."""

from typing import Literal
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpResponse
from ninja import Field, Query, Router

from accounts.api.tokens import ApiRequest
from accounts.models import User
from assets.api.runai import is_runai_client
from core.rest import correlation, filters
from core.rest.api import (
    ApiError,
    Count,
    NextOffset,
    Pages,
    Parameters,
    StrictBody,
    Wire,
    not_found,
)
from core.rest.filters import (
    DATE,
    NUMBER,
    TEXT,
    Fields,
    Filtered,
    SortBy,
    SortOrder,
    SortParameters,
    sort_queryset,
    word_choices,
)
from core.rest.rows import OptionalSort
from projects.models import Project
from spec.phases import Phase, RankPhase, Reason
from workloads import services
from workloads.api.lookup import WithDeleted, find_with_deleted
from workloads.api.observed import EventOut, PodOut
from workloads.api.reads import runai
from workloads.api.reads.filters import FIELDS, filter_workloads
from workloads.api.schemas import WorkloadOut
from workloads.api.why import with_cause
from workloads.models import Event, Rank, Workload, WorkloadQuerySet
from workloads.models.choices import EVENT_SOURCES
from workloads.plan import name_problems

router = Router(tags=["Workloads"])
EVENT_FIELDS: Fields = {
    "createdAt": ("at", DATE),
    "phase": ("phase", word_choices(("", *Phase))),
    "reason": ("reason", word_choices(Reason)),
    "message": ("message", TEXT),
    "source": ("source", word_choices(EVENT_SOURCES)),
    "actor": ("actor__username", TEXT),
}
POD_FIELDS: Fields = {
    "rank": ("rank", NUMBER),
    "role": ("role", TEXT),
    "nodeName": ("node", TEXT),
    "k8sPhase": ("phase", word_choices(RankPhase)),
    "reason": ("reason", word_choices(Reason)),
    "restarts": ("restarts", NUMBER),
    "exitCode": ("exit_code", NUMBER),
    "startedAt": ("started_at", DATE),
    "completedAt": ("finished_at", DATE),
}


class Narrowing(Filtered):
    deleted: bool = Field(
        default=False, description="true: deleted workloads that are still kept, and no others"
    )

    def rows(self, user: User) -> WorkloadQuerySet:
        workloads = Workload.objects
        among = workloads.deleted_for(user) if self.deleted else workloads.visible_to(user)
        return filter_workloads(among, self.filter_by, self.search)


class WorkloadListing(Pages, SortParameters, Narrowing):
    pass


class EventsOfOne(Pages, OptionalSort, Filtered, WithDeleted):
    """Events of one workload, newest first unless another order is asked for."""

    sort_by: SortBy = "createdAt"
    sort_order: SortOrder = "desc"

    def rows(self, workload: Workload) -> QuerySet[Event]:
        events = filters.filter_queryset(workload.events.all(), self.filter_by, EVENT_FIELDS)
        events = events.filter(message__icontains=self.search) if self.search else events
        return sort_queryset(events, self, EVENT_FIELDS).select_related("actor")


class PagesOfOne(Pages, OptionalSort, Filtered, WithDeleted):
    def rows(self, workload: Workload) -> QuerySet[Rank]:
        ranks = filters.filter_queryset(workload.ranks.all(), self.filter_by, POD_FIELDS)
        ranks = ranks.filter(node__icontains=self.search) if self.search else ranks
        return sort_queryset(ranks, self, POD_FIELDS)


class WorkloadList(Wire):
    workloads: list[WorkloadOut] = Field(description="The workloads")
    next: NextOffset


@router.get("", response=WorkloadList, by_alias=True)
def list_workloads(
    request: ApiRequest, listing: Query[WorkloadListing]
) -> WorkloadList | HttpResponse:
    """Workloads of all kinds that you can see, page by page."""
    rows = listing.rows(request.user).for_list().select_related("project__department")
    page, following = listing.cut(with_cause(sort_queryset(rows, listing, FIELDS)))
    answer = WorkloadList(workloads=WorkloadOut.list_of(page, request), next=following)
    return runai.list_response(answer, page) if is_runai_client(request) else answer


@router.get("/count", response=Count, by_alias=True, operation_id="count_workloads")
def count(request: ApiRequest, narrowing: Query[Narrowing]) -> Count:
    """The number of workloads that match the filters."""
    return Count(count=narrowing.rows(request.user).count())


class Availability(Wire):
    available: bool = Field(description="Whether a new workload can have this name")
    reason: str = Field(description="Why not; empty if it is available")


class WantedName(Parameters):
    project_id: int = Field(description="Only those of this project")
    name: str = Field(description="Only the one with this name")


@router.get(
    "/name-availability", response=Availability, by_alias=True, operation_id="check_workload_name"
)
def name_availability(request: ApiRequest, wanted: Query[WantedName]) -> Availability:
    """Whether this name is free in the project. Not part of Run:ai's API."""
    project = Project.objects.visible_to(request.user).filter(pk=wanted.project_id).first()
    if project is None:
        raise not_found("The project")
    problems = name_problems(wanted.name, project)
    return Availability(available=not problems, reason=problems[0].message if problems else "")


class Batch(StrictBody):
    ids: list[UUID] = Field(
        max_length=services.MOST_AT_ONCE, description="The IDs of the workloads, at most 100"
    )
    action: Literal["delete", "suspend", "resume"] = Field(
        description="What to do with each of them"
    )


VERBS = {
    "delete": services.delete_all,
    "suspend": services.stop_all,
    "resume": services.resume_all,
}


class Failure(Wire):
    id: UUID = Field(description="Its ID")
    code: int = Field(description="The HTTP status")
    message: str = Field(
        description="What happened, in one sentence; empty if there is nothing to say"
    )


class BatchResult(Wire):
    id: str = Field(
        default_factory=correlation.current_request_id, description="The id of the request"
    )
    succeeded: list[UUID] = Field(description="The IDs of the workloads for which it succeeded")
    failed: list[Failure] = Field(description="The workloads for which it failed, and why")


@router.post("/batch", response=BatchResult, by_alias=True, operation_id="change_many_workloads")
def batch(request: ApiRequest, body: Batch) -> BatchResult:
    """One action on many workloads; each succeeds or fails on its own."""
    rows = Workload.objects.visible_to(request.user).for_list().filter(pk__in=body.ids)
    present = {row.pk: row for row in rows}
    refused = VERBS[body.action]([*present.values()], by=request.user)
    denied = [it for it in refused.values() if isinstance(it, PermissionDenied)]
    if denied and len(denied) == len(present):
        raise denied[0]
    result = BatchResult(succeeded=[], failed=[])
    for pk in body.ids:
        if pk not in present:
            missing = not_found("The workload")
            result.failed.append(Failure(id=pk, code=missing.code, message=missing.message))
        elif pk in refused:
            code = 409 if isinstance(refused[pk], services.NotPossible) else 403
            result.failed.append(Failure(id=pk, code=code, message=str(refused[pk])))
        else:
            result.succeeded.append(pk)
    return result


@router.post(
    "/{uuid:workload_id}/extend",
    response=WorkloadOut,
    by_alias=True,
    operation_id="extend_workload",
)
def extend(request: ApiRequest, workload_id: UUID) -> WorkloadOut:
    """Extend the limits that the workload has from scheduling rules. Its owner may do that once, if
    the rules allow it; else 409. Not part of Run:ai's API."""
    workload = find_with_deleted(request, workload_id, deleted=False)
    try:
        services.extend(workload, by=request.user)
    except services.NotPossible as error:
        raise ApiError(409, str(error)) from error
    extended = find_with_deleted(request, workload_id, deleted=False)
    return WorkloadOut.list_of([extended], request)[0]


class EventList(Wire):
    events: list[EventOut] = Field(description="What happened, newest first")
    next: NextOffset


@router.get(
    "/{uuid:workload_id}/events",
    response=EventList,
    by_alias=True,
    operation_id="list_workload_events",
)
def list_events(request: ApiRequest, workload_id: UUID, query: Query[EventsOfOne]) -> EventList:
    """Events of the workload, newest first: changes of phase, actions of people, and messages."""
    workload = find_with_deleted(request, workload_id, deleted=query.deleted)
    page, following = query.cut(query.rows(workload))
    return EventList(events=[EventOut.of(event) for event in page], next=following)


class PodList(Wire):
    pods: list[PodOut] = Field(description="The pods")
    next: NextOffset


@router.get(
    "/{uuid:workload_id}/pods",
    response=PodList,
    by_alias=True,
    operation_id="list_workload_pods",
)
def list_pods(request: ApiRequest, workload_id: UUID, query: Query[PagesOfOne]) -> PodList:
    """Pods of the workload, one for each rank, with node, phase, restarts and exit code."""
    workload = find_with_deleted(request, workload_id, deleted=query.deleted)
    page, following = query.cut(query.rows(workload))
    return PodList(pods=[PodOut.of(rank, workload) for rank in page], next=following)
