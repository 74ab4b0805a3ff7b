"""REST: create, read, stop, run and delete distributed trainings."""

import secrets
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Protocol
from uuid import UUID

from ninja import Field, Query, Router, Status

from accounts.api.tokens import ApiRequest
from accounts.models import User
from core.rest.api import ApiError, Issue, Wire, refusal_error
from core.web.query import parse_number
from spec.draft import ASSET_LISTS, ReplicaDraft, WorkloadDraft
from spec.formats import documents
from spec.formats.connections import path_in_request
from spec.kind import WorkloadKind
from spec.problems.errors import WORDS, Problem, SpecError
from workloads import services
from workloads.api.bodies import ChosenIn, DistributedIn, OnePodIn
from workloads.api.lookup import find_of_kind
from workloads.api.schemas import DistributedOut
from workloads.api.submissions.begun import add_start_values
from workloads.api.submissions.dry_run import DryRun, DryRunOut
from workloads.models import Source, Workload
from workloads.plan import plan

router = Router(tags=["Distributed"])

KIND = WorkloadKind.DISTRIBUTED
CANNOT = "The workload cannot be submitted."
SPEC = "spec"  # path of problems in a spec that a draft cannot express


class VerbFunction(Protocol):
    """An action on a workload."""

    def __call__(self, workload: Workload, /, *, by: User) -> None: ...


class Accepted(Wire):
    code: int = Field(default=202, description="The HTTP status")
    message: str = Field(description="What happens next")


@router.post(
    "/distributed",
    response={200: DryRunOut, 202: DistributedOut},
    by_alias=True,
    operation_id="create_distributed",
    summary="Submit a distributed training",
)
def create(
    request: ApiRequest, body: DistributedIn, query: Query[DryRun]
) -> Status[DryRunOut] | Status[DistributedOut]:
    """Submit a distributed training. 400 lists every invalid field. With ``dryRun=true`` nothing is
    submitted; the answer is 200 and says what is invalid, and whether the workload would start."""
    if query.dry_run:
        return Status(
            200,
            check_request(body, partial(draft_of, body, by=request.user), by=request.user),
        )
    try:
        draft = draft_of(body, by=request.user)
        workload = services.submit(draft, by=request.user, source=Source.API)
    except SpecError as error:
        raise submission_refusal(error, body) from error
    return Status(202, DistributedOut.of(workload))


def check_request(body: OnePodIn, draft: Callable[[], WorkloadDraft], *, by: User) -> DryRunOut:
    """Check a request without submitting it. ``draft`` builds its draft or raises ``SpecError``."""
    field_of = partial(request_field, body=body)
    try:
        return DryRunOut.of(plan(draft(), by=by), field_of, by)
    except SpecError as error:
        return DryRunOut.refused(body.name, error.problems, field_of)


def draft_of(body: DistributedIn, *, by: User) -> WorkloadDraft:
    """Convert a request to a draft, with values of the template that it names, if any. If it
    contains something that a draft cannot express, raises ``SpecError`` with all of its problems.
    """
    draft, problems = add_start_values(_build_draft(body), body, by=by)
    return require_no_problems(draft, [*problems, *_inexpressible_problems(body)], by=by)


def require_no_problems(
    draft: WorkloadDraft, problems: list[Problem], *, by: User
) -> WorkloadDraft:
    """Return the draft if there are no ``problems``. Otherwise ``SpecError`` has them and the
    problems of all other fields."""
    if not problems:
        return draft
    fields = {problem.path[0] for problem in problems}
    others = (it for it in plan(draft, by=by).problems if not fields & set(it.path[:1]))
    raise SpecError([*problems, *others])


def _inexpressible_problems(body: DistributedIn) -> Iterator[Problem]:
    """Yield the problems of the request that a draft cannot express."""
    if body.master_spec is not None and body.no_master:
        yield Problem(("master",), "leave it out when noMaster is true")
    elif body.master_spec is not None and body.master_spec_same_as_worker:
        yield Problem(("master",), "leave it out when masterSpecSameAsWorker is true")
    elif (
        body.master_spec is None and body.master_spec_same_as_worker is False and not body.no_master
    ):
        message = "is required when masterSpecSameAsWorker is false"
        yield Problem(("master",), message, "required")
    yield from inexpressible_problems(body, KIND)


def inexpressible_problems(body: OnePodIn, kind: WorkloadKind) -> Iterator[Problem]:
    """Yield the problems of a request of any kind that a draft cannot express."""
    for key in documents.unknown_keys(body.spec, kind):
        yield Problem((SPEC, key), WORDS["extra_forbidden"], "unknown")
    if parse_number(body.project_id) is None:
        message = f"{body.project_id!r} is not the ID of a project you have access to"
        yield Problem(("project",), message)


def _build_draft(body: DistributedIn) -> WorkloadDraft:
    own_master = None if body.no_master else body.master_spec
    document = documents.from_wire(body.spec, no_master=body.no_master, master=own_master)
    worker = document.pop("worker")
    master = document.pop("master", None)
    framework = document.pop("distributedFramework", "") or ""  # null for roles that need none
    architecture = document.pop("architecture")
    return WorkloadDraft(
        **name_and_scope(body),
        framework=str(framework),
        architecture=architecture,
        worker=ReplicaDraft(values=worker),
        master=None if master is None else ReplicaDraft(values=master),
        values=document,
    )


def name_and_scope(body: OnePodIn) -> dict[str, Any]:
    """Return the fields that a draft of any kind takes from a request in addition to the spec."""
    suffix = f"-{secrets.token_hex(4)}" if body.use_given_name_as_prefix else ""
    return {
        "name": body.name + suffix,
        "requested_name": body.name if suffix else "",
        "cluster": body.cluster_id,
        "project": parse_number(body.project_id),
    }


def submission_refusal(error: SpecError, body: OnePodIn) -> ApiError:
    """Return the error as an answer, with the field names of the request."""
    issues = [
        Issue(field=request_field(it, body), details=it.message, rule=it.rule, source=it.source)
        for it in error.problems
    ]
    first = f"{issues[0].field}: {issues[0].details}" if issues else "The draft is incomplete."
    return refusal_error(CANNOT, issues, first)


def request_field(problem: Problem, body: OnePodIn) -> str:
    """Return the path of the request's field that a problem is about."""
    head, *rest = problem.path or ("",)
    if body.assets and head in {"worker", "master"} and _is_asset_choice(body.assets, rest):
        return ".".join(["assets", *map(str, rest)])
    master = body.master_spec if isinstance(body, DistributedIn) else None
    values = {"worker": body.spec, "master": master or {}}
    if head in values:
        rest = list(path_in_request(values[str(head)], tuple(rest)))
    renamed = {
        SPEC: "spec",
        "worker": "spec",
        "master": "masterSpec",
        "project": "projectId",
        "cluster": "clusterId",
        "template": "templateId",
        "framework": "spec.distributedFramework",
        "name": "name",
        "architecture": "noMaster",
    }
    return ".".join([renamed.get(str(head), f"spec.{head}"), *map(str, rest)])


def _is_asset_choice(chosen: ChosenIn, path: list[str | int]) -> bool:
    """Whether a problem is about the choice of an asset, not about a value from it."""
    if path and path[0] in ASSET_LISTS:
        return path[0] in chosen.listed_assets()
    return len(path) == 1 and getattr(chosen, str(path[0]), None) is not None


@router.get(
    "/distributed/{workload_id}",
    response=DistributedOut,
    by_alias=True,
    operation_id="read_distributed",
)
def read(request: ApiRequest, workload_id: UUID) -> DistributedOut:
    """The complete spec of the training as it was submitted, including every default."""
    return DistributedOut.of(find_of_kind(request, workload_id, KIND))


@router.delete(
    "/distributed/{workload_id}",
    response={202: Accepted},
    by_alias=True,
    operation_id="delete_distributed",
)
def delete(request: ApiRequest, workload_id: UUID) -> Status[Accepted]:
    """Delete the training. If it runs, it is killed. Logs, metrics and events are kept for
    a time."""
    return _apply_verb(services.delete, request, workload_id, "is being deleted")


@router.post(
    "/distributed/{workload_id}/suspend",
    response={202: Accepted},
    by_alias=True,
    operation_id="suspend_distributed",
)
def suspend(request: ApiRequest, workload_id: UUID) -> Status[Accepted]:
    """Stop the training. Its definition and checkpoints are kept. 409 if nothing runs."""
    return _apply_verb(services.stop, request, workload_id, "is stopping")


@router.post(
    "/distributed/{workload_id}/resume",
    response={202: Accepted},
    by_alias=True,
    operation_id="resume_distributed",
)
def resume(request: ApiRequest, workload_id: UUID) -> Status[Accepted]:
    """Run a training again, as its next run. 409 while it has not ended."""
    return _apply_verb(services.resume, request, workload_id, "runs again")


def _apply_verb(
    verb: VerbFunction, request: ApiRequest, workload_id: UUID, done: str
) -> Status[Accepted]:
    return apply_verb(verb, find_of_kind(request, workload_id, KIND), request.user, done)


def apply_verb(verb: VerbFunction, workload: Workload, by: User, done: str) -> Status[Accepted]:
    """Apply an action to a workload. Raises ``ApiError`` 409 if its phase does not allow it."""
    try:
        verb(workload, by=by)
    except services.NotPossible as error:
        raise ApiError(409, str(error)) from error
    return Status(202, Accepted(message=f"{workload.name} {done}."))
