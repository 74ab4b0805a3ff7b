"""Requests and answers about assets of any kind. Names are those of Run:ai's objects."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from django.db.models import Q
from pydantic import Field

from assets.asset import Asset
from assets.wire import AssetWire, WireType
from core.rest.api import Closed, Pages, Parameters, Wire
from core.rest.filters import DATE, ID, NUMBER, TEXT, Fields, Filtered, Sorted
from projects.scopes import Place, Scope
from spec.formats import documents
from spec.kind import WorkloadKind

Number = Annotated[int, Field(ge=0, lt=10**18)]


class AssetScope(StrEnum):
    """``tenant`` is the whole account, with all clusters."""

    TENANT = "tenant"
    CLUSTER = "cluster"
    DEPARTMENT = "department"
    PROJECT = "project"


#: Our scope for each scope in REST.
SCOPES: dict[str, str] = {it.value: it.value for it in AssetScope} | {"tenant": Scope.ACCOUNT.value}
SCOPE_WORDS = {column: word for word, column in SCOPES.items()}
IDS = ("cluster_id", "department_id", "project_id")
#: The fields by which lists are filtered and sorted.
FIELDS: Fields = {
    "id": ("id", ID),
    "name": ("name", TEXT),
    "description": ("description", TEXT),
    "scope": ("scope", SCOPES),
    "clusterId": ("cluster_id", ID),
    "departmentId": ("department_id", NUMBER),
    "projectId": ("project_id", NUMBER),
    "createdBy": ("created_by__username", TEXT),
    "createdAt": ("created_at", DATE),
    "updatedAt": ("updated_at", DATE),
}


class ReplicaType(StrEnum):
    WORKER = "Worker"
    MASTER = "Master"


class SupportedTypes(Closed):
    """The types of workloads that can use an environment. Other assets do not have it."""

    workspace: bool | None = None
    training: bool | None = None
    inference: bool | None = None
    distributed: bool | None = None
    dist_framework: str | None = None


class AssetMetaChange(Closed):
    """Missing fields do not change. A ``private`` credential is only yours, and its scope is
    ``tenant``; other assets cannot be private. ``autoDelete`` is always false."""

    name: str | None = None
    description: str | None = None
    workload_supported_types: SupportedTypes | None = None
    private: bool | None = None
    auto_delete: bool | None = None


class AssetMetaIn(AssetMetaChange):
    """The id that ``scope`` needs is required, such as ``projectId``."""

    name: str
    scope: AssetScope
    cluster_id: UUID | None = None
    department_id: Number | None = None
    project_id: Number | None = None


class AssetIn(Closed):
    """``spec`` is validated field by field."""

    meta: AssetMetaIn
    spec: dict[str, Any]


class AssetChange(Closed):
    """``spec``, if given, replaces the whole one."""

    meta: AssetMetaChange = AssetMetaChange()
    spec: dict[str, Any] | None = None


class AssetMeta(Wire):
    id: UUID
    kind: str
    name: str
    description: str | None
    scope: AssetScope
    cluster_id: UUID | None
    department_id: str | None
    project_id: int | None
    workload_supported_types: dict[str, Any] | None
    private: bool
    created_by: str
    created_at: datetime
    updated_by: str
    updated_at: datetime


class AssetStatusWord(StrEnum):
    """Whether an asset can be used in its cluster. "No status" if it belongs to no cluster, like an
    asset of the whole account."""

    ISSUES = "Issues found"
    NO_ISSUES = "No issues found"
    NONE = "No status"


class AssetStatus(Wire):
    """Whether the asset can be used in its cluster; ``message`` says why not."""

    status: AssetStatusWord
    message: str = ""

    @classmethod
    def of(cls, issue: str, *, placed: bool) -> "AssetStatus":
        if issue:
            return cls(status=AssetStatusWord.ISSUES, message=issue)
        word = AssetStatusWord.NO_ISSUES if placed else AssetStatusWord.NONE
        return cls(status=word, message="")


class ComplianceReason(Wire):
    field: str
    details: str


class AssetCompliance(Wire):
    """Whether a workload of the project can use the asset, and if not, why."""

    imposed: bool = False
    compliance: bool
    reason: list[ComplianceReason] = []


class AssetOut(Wire):
    """``usedBy`` is present if ``usageInfo`` asks for it: the workloads, templates and data sources
    that you can see. ``status`` is present with ``statusInfo``, and ``compliance`` if
    ``complyToProject`` names a project; for a workload of ``complyToWorkloadType``, if that is
    given."""

    meta: AssetMeta
    spec: dict[str, Any]
    used_by: dict[str, list[dict[str, Any]]] = {}
    status: AssetStatus | None = None
    compliance: AssetCompliance | None = None

    @classmethod
    def of(cls, asset: Asset, wire: AssetWire, its: WireType, **usage: Any) -> "AssetOut":
        supported = wire.supported.write(asset) if wire.supported else None
        meta = AssetMeta(
            id=asset.pk,
            kind=its.kind,
            name=asset.name,
            description=asset.description or None,
            scope=AssetScope(SCOPE_WORDS[asset.scope]),
            cluster_id=asset.cluster_id,
            department_id=str(asset.department_id) if asset.department_id else None,
            project_id=asset.project_id,
            workload_supported_types=supported,
            private=Place.of(asset).owner is not None,
            created_by=asset.created_by.username if asset.created_by else "",
            created_at=asset.created_at,
            updated_by=asset.updated_by.username if asset.updated_by else "",
            updated_at=asset.updated_at,
        )
        asked: dict[str, Any] = {"status": None, "compliance": None, **usage}
        return cls(meta=meta, spec=documents.masked(its.write(asset)), **asked)


class AssetList(Wire):
    entries: list[AssetOut]
    next: int | None


class AssetListing(Pages, Sorted, Filtered):
    """``name``, ``scope`` and the ids have the same effect as ``filterBy`` with ``==``. With
    ``includeDescendants``, which cannot be combined with ``scope``, an id also finds everything
    below it."""

    name: str | None = None
    scope: AssetScope | None = None
    cluster_id: UUID | None = None
    department_id: Number | None = None
    project_id: Number | None = None
    include_descendants: bool = False
    usage_info: bool = False
    status_info: bool = False
    comply_to_project: Number | None = None
    comply_to_workload_type: WorkloadKind | None = None
    comply_to_replica_type: ReplicaType | None = None

    @property
    def condition(self) -> Q:
        """The condition that was asked for, including descendants."""
        if not self.include_descendants or self.department_id is None:
            return Q(**self.columns)
        columns = {key: it for key, it in self.columns.items() if key != "department_id"}
        below = Q(project__department_id=self.department_id)
        return Q(**columns) & (Q(department_id=self.department_id) | below)

    @property
    def columns(self) -> dict[str, Any]:
        """The values that were asked for, by column."""
        given = {name: getattr(self, name) for name in ("name", *IDS)}
        if self.scope is not None:
            given["scope"] = SCOPES[self.scope]
        return {column: value for column, value in given.items() if value is not None}


class WithInfo(Parameters):
    usage_info: Annotated[bool, Field(description="true adds ``usedBy``: what uses it")] = False
    status_info: Annotated[
        bool, Field(description="true adds ``status``: whether it can be used in its cluster")
    ] = False
    comply_to_project: Annotated[
        Number | None,
        Field(description="The ID of a project: adds ``compliance``, whether it can use the asset"),
    ] = None
    comply_to_workload_type: WorkloadKind | None = None
    comply_to_replica_type: ReplicaType | None = None
