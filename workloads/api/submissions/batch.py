"""REST: create many workloads of one kind in a single request."""

from collections.abc import Callable, Sequence
from functools import partial

from ninja import Query, Router, Status

from accounts.api.tokens import ApiRequest
from accounts.models import User
from core.rest.api import ApiError, Issue, refusal_error
from spec.draft import WorkloadDraft
from spec.problems.errors import Problem, SpecError
from workloads import submission
from workloads.api.bodies import BatchIn, OnePodIn
from workloads.api.schemas import BatchOut, DistributedOut
from workloads.api.submissions.distributed import check_request, draft_of, request_field
from workloads.api.submissions.dry_run import BatchDryRunOut, DryRun
from workloads.models import Source, Workload
from workloads.plan import plan

router = Router(tags=["Distributed"])

CANNOT = "The workloads cannot be submitted; none was created."
#: Functions that build the drafts. ``SpecError`` if a request cannot be expressed as a draft.
Drafts = Sequence[Callable[[], WorkloadDraft]]


@router.post(
    "/distributed/batch-create",
    response={200: BatchDryRunOut, 202: BatchOut},
    by_alias=True,
    operation_id="create_many_distributed",
)
def create_all(
    request: ApiRequest, body: BatchIn, query: Query[DryRun]
) -> Status[BatchDryRunOut] | Status[BatchOut]:
    """Submit many distributed trainings in one project: all of them or none. 400 lists every
    invalid field, such as ``workloads.3.spec.image``. With ``dryRun=true`` nothing is submitted and
    the answer is 200."""
    by = request.user
    bodies = body.workloads
    drafts = [partial(draft_of, one, by=by) for one in bodies]
    if query.dry_run:
        return Status(200, check_requests(bodies, drafts, by=by))
    submitted = submit_requests(bodies, drafts, by=by)
    return Status(202, BatchOut(workloads=[DistributedOut.of(workload) for workload in submitted]))


def submit_requests(bodies: Sequence[OnePodIn], drafts: Drafts, *, by: User) -> list[Workload]:
    """Submit each request. Raises ``ApiError`` with every problem of any of them."""
    try:
        return submission.submit_all(_build_drafts(drafts, by), by=by, source=Source.API)
    except submission.BatchError as error:
        raise _batch_refusal(error, bodies) from error


def check_requests(bodies: Sequence[OnePodIn], drafts: Drafts, *, by: User) -> BatchDryRunOut:
    """Check each request alone, and if all are valid, all of them together."""
    results = [
        check_request(body, draft, by=by) for body, draft in zip(bodies, drafts, strict=True)
    ]
    issues: list[Issue] = []
    if all(result.valid for result in results):
        try:
            submission.check_all(_build_drafts(drafts, by), by=by)
        except submission.BatchError as error:
            issues = _batch_refusal(error, bodies).issues
    valid = not issues and all(result.valid for result in results)
    return BatchDryRunOut(valid=valid, compliance_issues=issues, workloads=results)


def _build_drafts(drafts: Drafts, by: User) -> list[WorkloadDraft]:
    """Return the drafts of the requests. If one cannot be expressed as a draft, ``BatchError`` has
    its problems and those of all others."""
    built: dict[int, WorkloadDraft] = {}
    problems: list[tuple[int | None, Problem]] = []
    for index, draft in enumerate(drafts):
        try:
            built[index] = draft()
        except SpecError as error:
            problems += [(index, problem) for problem in error.problems]
    if problems:
        for index, built_draft in built.items():
            problems += [(index, problem) for problem in plan(built_draft, by=by).problems]
        raise submission.BatchError(problems)
    return list(built.values())


def _batch_refusal(error: submission.BatchError, bodies: Sequence[OnePodIn]) -> ApiError:
    issues = [
        Issue(
            field=_request_field(at, problem, bodies),
            details=problem.message,
            rule=problem.rule,
            source=problem.source,
        )
        for at, problem in error.problems
    ]
    return refusal_error(CANNOT, issues, f"{issues[0].field}: {issues[0].details}")


def _request_field(index: int | None, problem: Problem, bodies: Sequence[OnePodIn]) -> str:
    return (
        "workloads"
        if index is None
        else f"workloads.{index}.{request_field(problem, bodies[index])}"
    )
