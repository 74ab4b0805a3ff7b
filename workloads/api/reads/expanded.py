"""REST: one workload, with its spec, pods, events and command line in the same answer if
asked for."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Router

from accounts.api.tokens import ApiRequest
from assets.api.runai import is_runai_client
from spec.formats import documents
from spec.formats.merge import without_empty
from spec.values.patterns import pattern_with_message
from trainyard_cli.flags.line import command_line
from workloads.api.lookup import WithDeleted, find_with_deleted
from workloads.api.observed import EventOut, PodOut
from workloads.api.reads import runai
from workloads.api.schemas import WorkloadOut
from workloads.models import Workload

router = Router(tags=["Workloads"])

MOST_EVENTS = 50  # all of them are at /events
PARTS = ("spec", "pods", "events", "commandLine")
PART = f"({'|'.join(PARTS)})"
LIST_OF_PARTS = pattern_with_message(
    rf"^({PART}(,{PART})*)?$",
    f"must be one or several of {', '.join(PARTS)}, with commas between",
)


class Expanding(WithDeleted):
    expand: str = Field(
        default="",
        pattern=LIST_OF_PARTS,
        description=f"Parts to add to the answer, separated by commas: {', '.join(PARTS)}",
    )


class ExpandedOut(WorkloadOut):
    """``spec``, ``masterSpec`` and ``noMaster`` are as in a request, ``events`` the latest 50.
    ``commandLine`` submits the same workload again with Trainyard's command line. Parts that were
    not asked for are null."""

    spec: dict[str, Any] | None = Field(
        default=None, description="As in the request; null if it was not requested"
    )
    master_spec: dict[str, Any] | None = Field(
        default=None,
        description=(
            "As in the request; null if it was not requested, or if the master is like the workers"
        ),
    )
    no_master: bool | None = Field(
        default=None,
        description="Whether there are only workers; null if the spec was not requested",
    )
    pods: list[PodOut] | None = Field(
        default=None, description="The pods; null if they were not requested"
    )
    events: list[EventOut] | None = Field(
        default=None, description="The latest 50 events; null if they were not requested"
    )
    command_line: str | None = Field(
        default=None,
        description=(
            "The trainyard command that submits the same again; null if it was not requested"
        ),
    )

    @classmethod
    def with_parts(
        cls, workload: Workload, wanted: set[str], request: HttpRequest
    ) -> "ExpandedOut":
        (answer,) = cls.list_of([workload], request)
        document = documents.mask_secret_values(documents.order_keys(workload.spec_json))
        if "spec" in wanted:
            for key, value in _request_fields(document).items():
                setattr(answer, key, value)
        if "pods" in wanted:
            answer.pods = [PodOut.of(rank, workload) for rank in workload.ranks.all()]
        if "events" in wanted:
            events = workload.events.select_related("actor")[:MOST_EVENTS]
            answer.events = [EventOut.of(event) for event in events]
        if "commandLine" in wanted:
            answer.command_line = _command_line(workload, documents.without_defaults(document))
        return answer


@router.get(
    "/{uuid:workload_id}", response=ExpandedOut, by_alias=True, operation_id="read_workload"
)
def read(
    request: ApiRequest, workload_id: UUID, query: Query[Expanding]
) -> ExpandedOut | HttpResponse:
    """One workload: its phase, why it waits, its requests and the last metrics of its training.
    ``expand`` adds its spec, pods, latest events and command line."""
    workload = find_with_deleted(request, workload_id, deleted=query.deleted)
    answer = ExpandedOut.with_parts(workload, set(query.expand.split(",")), request)
    return runai.workload_response(answer, workload) if is_runai_client(request) else answer


def _request_fields(document: documents.Document) -> dict[str, Any]:
    return {
        "spec": documents.to_wire(document),
        "master_spec": documents.master_to_wire(document),
        "no_master": document.get("architecture") == "workers_only",
    }


def _command_line(workload: Workload, document: documents.Document) -> str:
    request = _request_fields(document)
    body = {
        "name": workload.name,
        "spec": without_empty(request["spec"]),
        "noMaster": request["no_master"],
    }
    if request["master_spec"] is not None:
        body["masterSpec"] = without_empty(request["master_spec"])
    return command_line(body, workload.spec.kind.traits.path, workload.project.name)
