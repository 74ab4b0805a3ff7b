"""Find the workload that the path of a request names, among those that the caller may see."""

from uuid import UUID

from ninja import Field

from accounts.api.tokens import ApiRequest
from core.rest.api import Parameters, not_found
from spec.kind import WorkloadKind
from workloads.api.why import with_cause
from workloads.models import Workload, WorkloadQuerySet


class WithDeleted(Parameters):
    deleted: bool = Field(False, description="true also finds a deleted workload, while it is kept")


def find_workload(request: ApiRequest, workload_id: UUID) -> Workload:
    """Return the workload if the caller may see it. ``ApiError`` 404 otherwise, whether it exists
    or not."""
    return find_in_rows(Workload.objects.visible_to(request.user), workload_id)


def find_with_deleted(request: ApiRequest, workload_id: UUID, *, deleted: bool) -> Workload:
    """Return the workload, for reading only. With ``deleted`` it may be a deleted one that is still
    kept."""
    if not deleted:
        return find_workload(request, workload_id)
    return find_in_rows(Workload.objects.within_reach(request.user), workload_id)


def find_of_kind(request: ApiRequest, workload_id: UUID, kind: WorkloadKind) -> Workload:
    """Return a workload of this kind. ``ApiError`` 404 for another kind, which has another path."""
    return find_in_rows(Workload.objects.visible_to(request.user).filter(kind=kind), workload_id)


def find_in_rows(rows: WorkloadQuerySet, workload_id: UUID) -> Workload:
    """Return one workload of these rows, with everything that answers need. ``ApiError`` 404 if it
    is not among them."""
    rows = with_cause(rows.for_list().select_related("project__department"))
    workload = rows.filter(pk=workload_id).first()
    if workload is None:
        raise not_found("The workload")
    return workload
