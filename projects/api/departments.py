"""REST: departments, for administrators, with their quotas and what is held of them."""

from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Body, Query, Router, Status
from pydantic import Field

from accounts import access
from accounts.api import ApiRequest
from clusters.models import Cluster
from core.api import ApiError, Closed, Issue, Pages, Wire, judged, not_found
from projects import departments
from projects.api.projects import QuotaOut
from projects.departments import DepartmentShare, shares_of
from projects.models import Department

router = Router(tags=["Departments"])
REFUSED = "The department cannot be saved."
UNITS = {"B": 1, "MB": 10**6, "MiB": 2**20, "Mib": 2**20, "GB": 10**9}
LARGEST = 10**18  # in bytes more than this would not fit into a column, and nobody has it
Amount = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]


class Deserved(Closed):
    """Null means the sum of the projects' quotas."""

    deserved: Amount | None = None


class DeservedMemory(Deserved):
    """In bytes unless ``units`` says otherwise."""

    deserved: Annotated[float, Field(ge=0, le=LARGEST, allow_inf_nan=False)] | None = None
    units: Literal["B", "MB", "MiB", "Mib", "GB"] = "B"

    def in_bytes(self) -> int | None:
        if self.deserved is None:
            return None
        return min(round(self.deserved * UNITS[self.units]), LARGEST)


class DepartmentResources(Closed):
    """GPUs, CPU cores and memory of the entire cluster: node pools have no quotas of their own."""

    gpu: Deserved = Deserved()
    cpu: Deserved = Deserved()
    memory: DeservedMemory = DeservedMemory()

    def values(self) -> dict[str, Any]:
        """What was given, as the verbs take it."""
        every = {
            "gpu": self.gpu.deserved,
            "cpu": self.cpu.deserved,
            "memory": self.memory.in_bytes(),
        }
        return {f"{name}_quota": every[name] for name in self.model_fields_set}


One = Annotated[list[DepartmentResources], Field(max_length=1)]
NONE_OF_ITS_OWN = {"gpu_quota": None, "cpu_quota": None, "memory_quota": None}


class DepartmentChange(Closed):
    """Missing fields do not change. ``resources`` has one item, or none for the sums of the
    projects' quotas. ``overQuota`` false caps the total of the projects."""

    name: str = ""
    over_quota: bool = True
    resources: One = []


class DepartmentIn(DepartmentChange):
    name: str
    cluster_id: UUID


class DepartmentOut(Wire):
    """``gpu``, ``cpu`` and ``memory`` are the effective quotas, ``resources`` the configured ones.
    ``warning`` is set if the projects' quotas sum to more than the department's."""

    id: str
    name: str
    cluster_id: UUID
    over_quota: bool
    gpu: QuotaOut
    cpu: QuotaOut
    memory: QuotaOut
    resources: list[DepartmentResources]
    projects: int
    projects_gpu_quota: float
    warning: str

    @classmethod
    def of(cls, share: DepartmentShare) -> "DepartmentOut":
        department, holds, held = share.department, share.quota, share.held

        def quota(deserved: float | None, allocated: float) -> QuotaOut:
            limit = None if department.over_quota else deserved
            return QuotaOut(deserved=deserved, limit=limit, allocated=allocated)

        own = DepartmentResources(
            gpu=Deserved(deserved=department.gpu_quota),
            cpu=Deserved(deserved=department.cpu_quota),
            memory=DeservedMemory(deserved=department.memory_quota),
        )
        return cls(
            id=str(department.pk),
            name=department.name,
            cluster_id=department.cluster_id,
            over_quota=department.over_quota,
            gpu=quota(holds.gpus, held.gpus),
            cpu=quota(holds.cpu, held.cpu),
            memory=quota(holds.memory, held.memory),
            resources=[own],
            projects=len(share.projects),
            projects_gpu_quota=share.gpus_of_projects,
            warning=share.warning,
        )


class DepartmentList(Wire):
    departments: list[DepartmentOut]
    next: int | None


@router.get("/org-unit/departments", response=DepartmentList, by_alias=True)
def list_departments(request: ApiRequest, pages: Query[Pages]) -> DepartmentList:
    _check(request, "departments.read")
    page, following = pages.cut(Department.objects.order_by("name", "pk"))
    shown = [DepartmentOut.of(share) for share in shares_of(page)]
    return DepartmentList(departments=shown, next=following)


@router.post("/org-unit/departments", response={201: DepartmentOut}, by_alias=True)
def create_department(request: ApiRequest, body: DepartmentIn) -> Status[DepartmentOut]:
    """Create a department on a cluster. It has no projects yet; new projects choose their
    department."""
    _check(request, "departments.create")
    cluster = Cluster.objects.filter(pk=body.cluster_id).first()
    if cluster is None:
        issue = Issue(field="clusterId", details="Cluster not found.")
        raise ApiError(400, REFUSED, issues=[issue])
    with judged(REFUSED):
        department = departments.create_department(by=request.user, cluster=cluster, **_given(body))
    return Status(201, _shown(department))


@router.get("/org-unit/departments/{department_id}", response=DepartmentOut, by_alias=True)
def get_department(request: ApiRequest, department_id: int) -> DepartmentOut:
    return _shown(_department(request, department_id))


@router.put("/org-unit/departments/{department_id}", response=DepartmentOut, by_alias=True)
def update_department(
    request: ApiRequest, department_id: int, body: DepartmentChange
) -> DepartmentOut:
    """Change the given fields: the name, whether it may go over its quota, its quotas."""
    return _change(request, department_id, _given(body))


@router.delete("/org-unit/departments/{department_id}", response={204: None})
def delete_department(request: ApiRequest, department_id: int) -> Status[None]:
    """Remove it with its assets. 409 while it has projects."""
    department = _department(request, department_id)
    with judged(REFUSED, departments.DepartmentHasProjects):
        departments.delete_department(department, by=request.user)
    return Status(204, None)


@router.put(
    "/org-unit/departments/{department_id}/resources", response=DepartmentOut, by_alias=True
)
def replace_resources(request: ApiRequest, department_id: int, body: Body[One]) -> DepartmentOut:
    """Its quotas, all three: a missing one becomes the sum of its projects' quotas."""
    return _change(request, department_id, NONE_OF_ITS_OWN | _quotas(body))


@router.patch(
    "/org-unit/departments/{department_id}/resources", response=DepartmentOut, by_alias=True
)
def change_resources(request: ApiRequest, department_id: int, body: Body[One]) -> DepartmentOut:
    """Its quotas: a missing one does not change."""
    return _change(request, department_id, _quotas(body))


def _given(body: DepartmentChange) -> dict[str, Any]:
    given = {key: getattr(body, key) for key in body.model_fields_set & {"name", "over_quota"}}
    if "resources" in body.model_fields_set:
        given |= NONE_OF_ITS_OWN | _quotas(body.resources)
    return given


def _quotas(resources: list[DepartmentResources]) -> dict[str, Any]:
    return resources[0].values() if resources else {}


def _change(request: ApiRequest, pk: int, given: dict[str, Any]) -> DepartmentOut:
    department = _department(request, pk)
    kept = {key: getattr(department, key) for key in ("name", "over_quota", *NONE_OF_ITS_OWN)}
    with judged(REFUSED):
        departments.update_department(department, by=request.user, **kept | given)
    return _shown(department)


def _department(request: ApiRequest, pk: int) -> Department:
    _check(request, "departments.read")
    department = Department.objects.select_related("cluster").filter(pk=pk).first()
    if department is None:
        raise not_found("The department")
    return department


def _check(request: ApiRequest, action: str) -> None:
    with judged(REFUSED):
        access.require(request.user, action)


def _shown(department: Department) -> DepartmentOut:
    (share,) = shares_of([department])
    return DepartmentOut.of(share)
