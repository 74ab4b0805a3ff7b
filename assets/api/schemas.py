"""Requests and answers about assets of any kind. Names are those of Run:ai's objects."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from django.db.models import Q
from pydantic import Field

from assets.asset import Asset
from assets.wire import AssetWire, WireType
from core.rest.api import NextOffset, Pages, Parameters, StrictBody, Wire
from core.rest.filters import DATE, ID, NUMBER, TEXT, Fields, Filtered, SortParameters
from projects.api.scopes import IDS, SCOPE_WORDS, SCOPES, AssetScope, Number
from projects.scopes import OwningScope
from spec.formats import documents
from spec.kind import WorkloadKind

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


class SupportedTypes(StrictBody):
    """The types of workloads that can use an environment. Other assets do not have it."""

    workspace: bool | None = Field(
        default=None, description="Always true: workspaces can use every environment"
    )
    training: bool | None = Field(
        default=None, description="Always true: standard trainings can use every environment"
    )
    inference: bool | None = Field(default=None, description="Always false: there is no inference")
    distributed: bool | None = Field(
        default=None, description="Whether distributed trainings can use it"
    )
    dist_framework: str | None = Field(default=None, description="The framework that can use it")


class AssetMetaChange(StrictBody):
    """Missing fields do not change. A ``private`` credential is only yours, and its scope is
    ``tenant``; other assets cannot be private. ``autoDelete`` is always false."""

    name: str | None = Field(default=None, description="The name")
    description: str | None = Field(default=None, description="A description for people")
    workload_supported_types: SupportedTypes | None = Field(
        default=None, description="Which workloads can use it; for environments only"
    )
    private: bool | None = Field(
        default=None, description="Whether it is for the caller alone; only credentials can be"
    )
    auto_delete: bool | None = Field(default=None, description="Not supported: can only be false")


class AssetMetaIn(AssetMetaChange):
    """The id that ``scope`` needs is required, such as ``projectId``."""

    name: str = Field(description="The name")
    scope: AssetScope = Field(
        description="Where the asset belongs; tenant is the account with all clusters"
    )
    cluster_id: UUID | None = Field(default=None, description="The ID of the cluster")
    department_id: Number | None = Field(default=None, description="The ID of the department")
    project_id: Number | None = Field(default=None, description="The ID of the project")


class AssetIn(StrictBody):
    """``spec`` is validated field by field."""

    meta: AssetMetaIn = Field(description="Its name and where it belongs")
    spec: dict[str, Any] = Field(description="The specification")


class AssetChange(StrictBody):
    """``spec``, if given, replaces the whole one."""

    meta: AssetMetaChange = Field(
        default=AssetMetaChange(), description="Its name and where it belongs"
    )
    spec: dict[str, Any] | None = Field(default=None, description="The specification")


class AssetMeta(Wire):
    id: UUID = Field(description="Its ID")
    kind: str = Field(description="The kind of asset")
    name: str = Field(description="The name")
    description: str | None = Field(description="A description for people")
    scope: AssetScope = Field(
        description="Where the asset belongs; tenant is the account with all clusters"
    )
    cluster_id: UUID | None = Field(description="The ID of the cluster")
    department_id: str | None = Field(description="The ID of the department")
    project_id: int | None = Field(description="The ID of the project")
    workload_supported_types: dict[str, Any] | None = Field(
        description="Which workloads can use it; for environments only"
    )
    private: bool = Field(description="Whether it is for the caller alone; only credentials can be")
    created_by: str = Field(description="The username of the person who created it")
    created_at: datetime = Field(description="When it was created")
    updated_by: str = Field(description="The username of the person who last changed it")
    updated_at: datetime = Field(description="When it last changed")


class AssetStatusWord(StrEnum):
    """Whether an asset can be used in its cluster. "No status" if it belongs to no cluster, like an
    asset of the whole account."""

    ISSUES = "Issues found"
    NO_ISSUES = "No issues found"
    NONE = "No status"


class AssetStatus(Wire):
    """Whether the asset can be used in its cluster; ``message`` says why not."""

    status: AssetStatusWord = Field(description="Its status")
    message: str = Field(
        default="", description="What happened, in one sentence; empty if there is nothing to say"
    )

    @classmethod
    def from_issue(cls, issue: str, *, has_cluster: bool) -> "AssetStatus":
        if issue:
            return cls(status=AssetStatusWord.ISSUES, message=issue)
        word = AssetStatusWord.NO_ISSUES if has_cluster else AssetStatusWord.NONE
        return cls(status=word, message="")


class ComplianceReason(Wire):
    field: str = Field(description="The field of the spec")
    details: str = Field(description="What is wrong, and what to do about it")
    rule: str | None = Field(
        default=None,
        description="The rule of a policy that a value breaks, such as max; null for other reasons",
    )
    source: str = Field(default="", description="The policy that has the rule")


class AssetCompliance(Wire):
    """Whether a workload of the project can use the asset, and if not, why. What only breaks a
    ``rule`` can be used by a workload that overrides the value."""

    imposed: bool = Field(
        default=False, description="Whether a policy adds it to each workload of the project"
    )
    compliance: bool = Field(
        description=(
            "Whether a workload of the project given by complyToProject can use it, and why not"
        )
    )
    reason: list[ComplianceReason] = Field(
        default=[], description="Why not; empty if it can be used"
    )


class AssetOut(Wire):
    """``usedBy`` is present if ``usageInfo`` asks for it: the workloads, templates, data sources
    and policies that you can see. ``status`` is present with ``statusInfo``, and ``compliance`` if
    ``complyToProject`` names a project; for a workload of ``complyToWorkloadType``, if that is
    given."""

    meta: AssetMeta = Field(description="Its name and where it belongs")
    spec: dict[str, Any] = Field(description="The specification")
    used_by: dict[str, list[dict[str, Any]]] = Field(
        default={}, description="What uses the asset, by type; with usageInfo only"
    )
    status: AssetStatus | None = Field(default=None, description="Its status")
    compliance: AssetCompliance | None = Field(
        default=None,
        description=(
            "Whether a workload of the project given by complyToProject can use it, and why not"
        ),
    )

    @classmethod
    def from_asset(
        cls, asset: Asset, wire: AssetWire, wire_type: WireType, **info: Any
    ) -> "AssetOut":
        supported = wire.supported.write(asset) if wire.supported else None
        meta = AssetMeta(
            id=asset.pk,
            kind=wire_type.kind,
            name=asset.name,
            description=asset.description or None,
            scope=AssetScope(SCOPE_WORDS[asset.scope]),
            cluster_id=asset.cluster_id,
            department_id=str(asset.department_id) if asset.department_id else None,
            project_id=asset.project_id,
            workload_supported_types=supported,
            private=OwningScope.from_asset(asset).owner is not None,
            created_by=asset.created_by.username if asset.created_by else "",
            created_at=asset.created_at,
            updated_by=asset.updated_by.username if asset.updated_by else "",
            updated_at=asset.updated_at,
        )
        info_values: dict[str, Any] = {"status": None, "compliance": None, **info}
        return cls(
            meta=meta, spec=documents.mask_secret_values(wire_type.write(asset)), **info_values
        )


class AssetList(Wire):
    entries: list[AssetOut] = Field(description="The assets")
    next: NextOffset


class AssetListing(Pages, SortParameters, Filtered):
    """``name``, ``scope`` and the ids have the same effect as ``filterBy`` with ``==``. With
    ``includeDescendants``, which cannot be combined with ``scope``, an id also finds everything
    below it."""

    name: str | None = Field(default=None, description="Only the one with this name")
    scope: AssetScope | None = Field(default=None, description="Only assets of this scope")
    cluster_id: UUID | None = Field(default=None, description="Only those of this cluster")
    department_id: Number | None = Field(default=None, description="Only assets of this department")
    project_id: Number | None = Field(default=None, description="Only those of this project")
    include_descendants: bool = Field(
        default=False,
        description="true also lists assets of the departments and projects below the given ID",
    )
    usage_info: bool = Field(default=False, description="true adds what uses the asset")
    status_info: bool = Field(
        default=False, description="true adds whether the asset can be used in its cluster"
    )
    comply_to_project: Number | None = Field(
        default=None,
        description="The ID of a project: adds whether its workloads can use the asset",
    )
    comply_to_workload_type: WorkloadKind | None = Field(
        default=None, description="The kind of workload that would use the asset; without it, any"
    )
    comply_to_replica_type: ReplicaType | None = Field(
        default=None,
        description=(
            "The kind of pod of a distributed workload that would use the asset; master does not "
            "suit assets of a framework without one"
        ),
    )

    @property
    def condition(self) -> Q:
        """The condition that was asked for, including descendants."""
        if not self.include_descendants or self.department_id is None:
            return Q(**self.columns)
        columns = {key: it for key, it in self.columns.items() if key != "department_id"}
        in_projects = Q(project__department_id=self.department_id)
        return Q(**columns) & (Q(department_id=self.department_id) | in_projects)

    @property
    def columns(self) -> dict[str, Any]:
        """The values that were asked for, by column."""
        values = {name: getattr(self, name) for name in ("name", *IDS)}
        if self.scope is not None:
            values["scope"] = SCOPES[self.scope]
        return {column: value for column, value in values.items() if value is not None}


class WithInfo(Parameters):
    usage_info: Annotated[bool, Field(description="true adds ``usedBy``: what uses it")] = False
    status_info: Annotated[
        bool, Field(description="true adds ``status``: whether it can be used in its cluster")
    ] = False
    comply_to_project: Annotated[
        Number | None,
        Field(description="The ID of a project: adds ``compliance``, whether it can use the asset"),
    ] = None
    comply_to_workload_type: WorkloadKind | None = Field(
        default=None, description="The kind of workload that would use the asset; without it, any"
    )
    comply_to_replica_type: ReplicaType | None = Field(
        default=None,
        description=(
            "The kind of pod of a distributed workload that would use the asset; master does not "
            "suit assets of a framework without one"
        ),
    )
