"""REST: create, read, stop, run and delete workloads of one pod. Each kind has the same calls below
its own path."""

from functools import partial
from typing import Any
from uuid import UUID

from ninja import Query, Router, Status

from accounts.api.tokens import ApiRequest
from accounts.models import User
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.formats import documents
from spec.kind import WorkloadKind
from spec.problems.errors import SpecError
from workloads import services
from workloads.api.bodies import OnePodBatchIn, OnePodIn
from workloads.api.lookup import find_of_kind
from workloads.api.schemas import OnePodBatchOut, OnePodOut
from workloads.api.submissions.batch import check_requests, submit_requests
from workloads.api.submissions.begun import add_start_values
from workloads.api.submissions.distributed import (
    Accepted,
    apply_verb,
    check_request,
    inexpressible_problems,
    name_and_scope,
    require_no_problems,
    submission_refusal,
)
from workloads.api.submissions.dry_run import BatchDryRunOut, DryRun, DryRunOut
from workloads.models import Source

ANSWER: Any = {200: DryRunOut, 202: OnePodOut}
BATCH_ANSWER: Any = {200: BatchDryRunOut, 202: OnePodBatchOut}
ACCEPTED_ANSWER: Any = {202: Accepted}


def router_of(kind: WorkloadKind) -> Router:
    """Return the router with the calls of one kind, such as ``POST /trainings``."""
    path = f"/{kind.traits.path}"
    noun = kind.traits.noun
    workload_path = f"{path}/{{workload_id}}"
    router = Router(tags=[kind.traits.path.capitalize()], by_alias=True)

    @router.post(path, response=ANSWER, operation_id=f"create_{noun}", summary=f"Submit a {noun}")
    def create(
        request: ApiRequest, body: OnePodIn, asked: Query[DryRun]
    ) -> Status[DryRunOut] | Status[OnePodOut]:
        """400 lists every invalid field. With ``dryRun=true`` nothing is submitted: the answer is
        200, with what is invalid and whether the workload would start."""
        return _create(body, kind, by=request.user, rehearses=asked.dry_run)

    _add_batch(router, kind)

    @router.get(workload_path, response=OnePodOut, operation_id=f"read_{noun}")
    def read(request: ApiRequest, workload_id: UUID) -> OnePodOut:
        """The complete spec of the workload as it was submitted, including every default."""
        return OnePodOut.of(find_of_kind(request, workload_id, kind))

    @router.delete(workload_path, response=ACCEPTED_ANSWER, operation_id=f"delete_{noun}")
    def delete(request: ApiRequest, workload_id: UUID) -> Status[Accepted]:
        """Delete the workload, even if it runs. Logs, metrics and events are kept for a time."""
        workload = find_of_kind(request, workload_id, kind)
        return apply_verb(services.delete, workload, request.user, "is being deleted")

    @router.post(
        f"{workload_path}/suspend", response=ACCEPTED_ANSWER, operation_id=f"suspend_{noun}"
    )
    def suspend(request: ApiRequest, workload_id: UUID) -> Status[Accepted]:
        """Stop the workload. Its definition and volumes are kept. 409 if nothing runs."""
        workload = find_of_kind(request, workload_id, kind)
        return apply_verb(services.stop, workload, request.user, "is stopping")

    @router.post(f"{workload_path}/resume", response=ACCEPTED_ANSWER, operation_id=f"resume_{noun}")
    def resume(request: ApiRequest, workload_id: UUID) -> Status[Accepted]:
        """Run a workload again, as its next run. 409 while it has not ended."""
        workload = find_of_kind(request, workload_id, kind)
        return apply_verb(services.resume, workload, request.user, "runs again")

    return router


def _add_batch(router: Router, kind: WorkloadKind) -> None:
    path = f"/{kind.traits.path}/batch-create"

    @router.post(path, response=BATCH_ANSWER, operation_id=f"create_many_{kind.traits.path}")
    def create_all(
        request: ApiRequest, body: OnePodBatchIn, asked: Query[DryRun]
    ) -> Status[BatchDryRunOut] | Status[OnePodBatchOut]:
        """Submit many workloads in one project: all of them or none. 400 lists every invalid field,
        such as ``workloads.3.spec.image``. With ``dryRun=true`` nothing is submitted and the answer
        is 200."""
        by = request.user
        bodies = body.workloads
        drafts = [partial(draft_of_one_pod, one, kind, by=by) for one in bodies]
        if asked.dry_run:
            return Status(200, check_requests(bodies, drafts, by=by))
        submitted = submit_requests(bodies, drafts, by=by)
        return Status(
            202, OnePodBatchOut(workloads=[OnePodOut.of(workload) for workload in submitted])
        )


def _create(
    body: OnePodIn, kind: WorkloadKind, *, by: User, rehearses: bool
) -> Status[DryRunOut] | Status[OnePodOut]:
    if rehearses:
        return Status(200, check_request(body, partial(draft_of_one_pod, body, kind, by=by), by=by))
    try:
        draft = draft_of_one_pod(body, kind, by=by)
        return Status(202, OnePodOut.of(services.submit(draft, by=by, source=Source.API)))
    except SpecError as error:
        raise submission_refusal(error, body) from error


def draft_of_one_pod(body: OnePodIn, kind: WorkloadKind, *, by: User) -> WorkloadDraft:
    """Convert a request to a draft, as ``distributed.draft_of`` does. Raises ``SpecError``."""
    document = documents.one_pod_from_wire(body.spec, kind)
    worker = ReplicaDraft(values=document.pop("worker"))
    draft = WorkloadDraft(**name_and_scope(body), kind=kind, worker=worker, values=document)
    draft, problems = add_start_values(draft, body, by=by)
    return require_no_problems(draft, [*problems, *inexpressible_problems(body, kind)], by=by)
