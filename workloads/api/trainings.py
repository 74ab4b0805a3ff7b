"""REST: making, reading, stopping, running and deleting standard trainings: one pod each."""

from uuid import UUID

from ninja import Router, Status

from accounts.api import ApiRequest
from accounts.models import User
from spec import documents
from spec.draft import ReplicaDraft, WorkloadDraft
from spec.errors import SpecError
from spec.kind import WorkloadKind
from workloads import services
from workloads.api.distributed import Accepted, act, find_kind, place, refused, said, unsaid
from workloads.api.schemas import OnePodIn, OnePodOut
from workloads.models import Source, Workload

router = Router(tags=["Trainings"])

KIND = WorkloadKind.TRAINING


@router.post("/trainings", response={202: OnePodOut}, by_alias=True)
def create_training(request: ApiRequest, body: OnePodIn) -> Status[OnePodOut]:
    """Submit a standard training. 400 lists every invalid field."""
    try:
        draft = _draft_of(body, by=request.user)
        workload = services.submit(draft, by=request.user, source=Source.API)
    except SpecError as error:
        raise refused(error, body) from error
    return Status(202, OnePodOut.of(workload))


def _draft_of(body: OnePodIn, *, by: User) -> WorkloadDraft:
    """As ``distributed.draft_of``."""
    document = documents.one_pod_from_wire(body.spec, KIND)
    worker = ReplicaDraft(values=document.pop("worker"))
    draft = WorkloadDraft(**place(body), kind=KIND, worker=worker, values=document)
    return said(draft, list(unsaid(body, KIND)), by=by)


@router.get("/trainings/{workload_id}", response=OnePodOut, by_alias=True)
def read_training(request: ApiRequest, workload_id: UUID) -> OnePodOut:
    return OnePodOut.of(_find(request, workload_id))


@router.delete("/trainings/{workload_id}", response={202: Accepted}, by_alias=True)
def delete_training(request: ApiRequest, workload_id: UUID) -> Status[Accepted]:
    workload = _find(request, workload_id)
    return act(services.delete, workload, request.user, "is being deleted")


@router.post("/trainings/{workload_id}/suspend", response={202: Accepted}, by_alias=True)
def suspend_training(request: ApiRequest, workload_id: UUID) -> Status[Accepted]:
    return act(services.stop, _find(request, workload_id), request.user, "is stopping")


@router.post("/trainings/{workload_id}/resume", response={202: Accepted}, by_alias=True)
def resume_training(request: ApiRequest, workload_id: UUID) -> Status[Accepted]:
    return act(services.resume, _find(request, workload_id), request.user, "runs again")


def _find(request: ApiRequest, workload_id: UUID) -> Workload:
    return find_kind(request, workload_id, KIND)
