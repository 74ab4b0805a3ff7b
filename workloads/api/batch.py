"""REST: making many distributed trainings in one call."""

from ninja import Router, Status

from accounts.api import ApiRequest
from core.api import ApiError, Issue
from spec.draft import WorkloadDraft
from spec.errors import Problem, SpecError
from workloads import batch
from workloads.api.distributed import draft_of, wire_field
from workloads.api.schemas import BatchIn, BatchOut, DistributedOut
from workloads.models import Source

router = Router(tags=["Distributed"])

CANNOT = "The workloads cannot be submitted; none was made."


@router.post("/distributed/batch-create", response={202: BatchOut}, by_alias=True)
def create_all(request: ApiRequest, body: BatchIn) -> Status[BatchOut]:
    """Submit many distributed trainings of one project, all or none. 400 lists every field that is
    wrong, as ``workloads.3.spec.image``."""
    try:
        made = batch.submit(_drafts(body), by=request.user, source=Source.API)
    except batch.BatchError as error:
        raise _refused(error, body) from error
    return Status(202, BatchOut(workloads=[DistributedOut.of(workload) for workload in made]))


def _drafts(body: BatchIn) -> list[WorkloadDraft]:
    drafts: list[WorkloadDraft] = []
    found: list[tuple[int | None, Problem]] = []
    for at, one in enumerate(body.workloads):
        try:
            drafts.append(draft_of(one))
        except SpecError as error:
            found += [(at, problem) for problem in error.problems]
    if found:
        raise batch.BatchError(found)
    return drafts


def _refused(error: batch.BatchError, body: BatchIn) -> ApiError:
    issues = [
        Issue(field=_field(at, problem, body), details=problem.message)
        for at, problem in error.problems
    ]
    return ApiError(400, CANNOT, details=f"{issues[0].field}: {issues[0].details}", issues=issues)


def _field(at: int | None, problem: Problem, body: BatchIn) -> str:
    if at is None:
        return "workloads"
    return f"workloads.{at}.{wire_field(problem, body.workloads[at])}"
