"""REST: making many distributed trainings in one call."""

from ninja import Query, Router, Status

from accounts.api import ApiRequest
from accounts.models import User
from core.api import ApiError, Issue, refused_for
from spec.draft import WorkloadDraft
from spec.errors import Problem, SpecError
from workloads import submission
from workloads.api.distributed import draft_of, rehearse, wire_field
from workloads.api.dry_run import BatchDryRunOut, DryRun
from workloads.api.schemas import BatchIn, BatchOut, DistributedOut
from workloads.models import Source
from workloads.plan import plan

router = Router(tags=["Distributed"])

CANNOT = "The workloads cannot be submitted; none was created."


@router.post(
    "/distributed/batch-create",
    response={200: BatchDryRunOut, 202: BatchOut},
    by_alias=True,
    operation_id="create_many_distributed",
)
def create_all(
    request: ApiRequest, body: BatchIn, asked: Query[DryRun]
) -> Status[BatchDryRunOut] | Status[BatchOut]:
    """Submit many distributed trainings of one project, all or none. 400 lists every invalid
    field, such as ``workloads.3.spec.image``. ``dryRun=true`` submits nothing and answers 200."""
    if asked.dry_run:
        return Status(200, _rehearse(body, by=request.user))
    try:
        workloads = submission.submit_all(
            _drafts(body, request.user), by=request.user, source=Source.API
        )
    except submission.BatchError as error:
        raise _refused(error, body) from error
    return Status(202, BatchOut(workloads=[DistributedOut.of(workload) for workload in workloads]))


def _rehearse(body: BatchIn, *, by: User) -> BatchDryRunOut:
    """Each alone, and what all of them together would be refused for."""
    alone = [rehearse(one, by=by) for one in body.workloads]
    together: list[Issue] = []
    if all(one.valid for one in alone):
        try:
            submission.judge_all(_drafts(body, by), by=by)
        except submission.BatchError as error:
            together = _refused(error, body).issues
    valid = not together and all(one.valid for one in alone)
    return BatchDryRunOut(valid=valid, compliance_issues=together, workloads=alone)


def _drafts(body: BatchIn, by: User) -> list[WorkloadDraft]:
    """``BatchError`` where one of them is no draft, with what is wrong with the others besides."""
    drafts: dict[int, WorkloadDraft] = {}
    problems: list[tuple[int | None, Problem]] = []
    for at, one in enumerate(body.workloads):
        try:
            drafts[at] = draft_of(one, by=by)
        except SpecError as error:
            problems += [(at, problem) for problem in error.problems]
    if problems:
        for at, draft in drafts.items():
            problems += [(at, problem) for problem in plan(draft, by=by).problems]
        raise submission.BatchError(problems)
    return list(drafts.values())


def _refused(error: submission.BatchError, body: BatchIn) -> ApiError:
    issues = [
        Issue(field=_field(at, problem, body), details=problem.message, rule=problem.rule)
        for at, problem in error.problems
    ]
    return refused_for(CANNOT, issues, f"{issues[0].field}: {issues[0].details}")


def _field(at: int | None, problem: Problem, body: BatchIn) -> str:
    if at is None:
        return "workloads"
    return f"workloads.{at}.{wire_field(problem, body.workloads[at])}"
