"""Requests and answers about policies. Names are those of Run:ai's objects."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from core.rest.api import NextOffset, Pages, Parameters, StrictBody, Wire
from core.rest.filters import (
    DATE,
    ID,
    NUMBER,
    TEXT,
    Fields,
    Filtered,
    SortBy,
    SortParameters,
    word_choices,
)
from policies.models import Policy
from policies.rules import Rule, RuleSource
from policies.tree import write_tree
from projects.api.scopes import SCOPE_WORDS, SCOPES, AssetScope, Number
from spec.formats.documents import Document
from spec.kind import WorkloadKind
from spec.problems.errors import Problem

#: The fields by which the list is filtered and sorted.
FIELDS: Fields = {
    "id": ("id", ID),
    "name": ("name", TEXT),
    "type": ("kind", word_choices(WorkloadKind)),
    "scope": ("scope", SCOPES),
    "clusterId": ("cluster_id", ID),
    "departmentId": ("department_id", NUMBER),
    "projectId": ("project_id", NUMBER),
    "createdBy": ("created_by__username", TEXT),
    "createdAt": ("created_at", DATE),
    "updatedAt": ("updated_at", DATE),
}


class PolicyPlace(Parameters):
    """The scope that a policy belongs to, and the id that this scope needs."""

    scope: AssetScope = Field(
        description="Where the policy belongs; tenant is the account with all clusters"
    )
    cluster_id: UUID | None = Field(default=None, description="The ID of the cluster")
    department_id: Number | None = Field(default=None, description="The ID of the department")
    project_id: Number | None = Field(default=None, description="The ID of the project")


class Approval(Parameters):
    approve_cluster_deletion: bool = Field(
        default=False,
        description="Run:ai's, for old clusters; has no effect, because policies are kept here",
    )


class PolicyDeletion(PolicyPlace, Approval):
    """Which policy to delete."""


class Validation(Approval):
    validate_only: bool = Field(
        default=False,
        description="true checks the policy and answers as it would, and saves nothing",
    )
    confirm: bool = Field(
        default=False,
        description="true saves a policy that refuses all of the last workloads; 409 without it",
    )


class PolicyMetaIn(StrictBody):
    """The id that ``scope`` needs is required, such as ``projectId``."""

    name: str = Field(description="The name")
    scope: AssetScope = Field(
        description="Where the policy belongs; tenant is the account with all clusters"
    )
    cluster_id: UUID | None = Field(default=None, description="The ID of the cluster")
    department_id: Number | None = Field(default=None, description="The ID of the department")
    project_id: Number | None = Field(default=None, description="The ID of the project")


class PolicyIn(StrictBody):
    """``policy`` has ``defaults``, ``rules`` and ``imposedAssets``. A ``status`` in it has no
    effect, so that an answer can be sent back."""

    meta: PolicyMetaIn = Field(description="Its name and where it belongs")
    policy: dict[str, Any] | None = Field(
        default=None, description="The policy: defaults, rules and imposedAssets"
    )


class PolicyPatch(PolicyIn):
    """``reset`` is done first. Then ``policy`` is merged field by field; lists are replaced."""

    reset: list[str] | None = Field(
        default=None,
        max_length=1000,
        description="Paths of fields, such as worker.compute, whose default and rules are removed",
    )


class PolicyMeta(Wire):
    id: UUID = Field(description="Its ID")
    name: str = Field(description="The name")
    scope: AssetScope = Field(
        description="Where the policy belongs; tenant is the account with all clusters"
    )
    cluster_id: UUID | None = Field(description="The ID of the cluster")
    department_id: str | None = Field(description="The ID of the department")
    project_id: int | None = Field(description="The ID of the project")
    created_by: str = Field(description="The username of the person who created it")
    created_at: datetime = Field(description="When it was created")
    updated_by: str = Field(description="The username of the person who last changed it")
    updated_at: datetime = Field(description="When it last changed")

    @classmethod
    def of(cls, policy: Policy) -> "PolicyMeta":
        return cls(
            id=policy.pk,
            name=policy.name,
            scope=AssetScope(SCOPE_WORDS[policy.scope]),
            cluster_id=policy.cluster_id,
            department_id=str(policy.department_id) if policy.department_id else None,
            project_id=policy.project_id,
            created_by=policy.created_by.username if policy.created_by else "",
            created_at=policy.created_at,
            updated_by=policy.updated_by.username if policy.updated_by else "",
            updated_at=policy.updated_at,
        )


class SourceOfRule(Wire):
    """The scope whose policy has a rule, and the policy's name."""

    scope: AssetScope = Field(
        description="Where the policy belongs; tenant is the account with all clusters"
    )
    name: str = Field(description="The name of the policy")
    cluster_id: UUID | None = Field(description="The ID of the cluster")
    department_id: str | None = Field(description="The ID of the department")
    project_id: int | None = Field(description="The ID of the project")

    @classmethod
    def of(cls, policy: Policy) -> "SourceOfRule":
        meta = PolicyMeta.of(policy)
        return cls.model_validate(meta.model_dump(include=set(cls.model_fields)))


class EffectiveRule(Wire):
    """One rule that holds in the scope. All rules of a field hold together."""

    field: str = Field(
        description="The path of the field, such as numWorkers or worker.storage.pvc[].path"
    )
    enforcement: str = Field(description="What the rule does, such as default, max or canEdit")
    value: Any = Field(description="The value of the rule")
    allow_override: bool = Field(description="Whether a narrower scope may replace the rule")
    why: str = Field(description="The reason of the rule, for people; empty for none")
    source_of_rule: SourceOfRule = Field(description="Whose rule it is")


class PolicyOut(Wire):
    """``meta`` and ``policy`` are null if the scope has no policy of its own. ``effective`` also
    has what the policies of wider scopes say, each field with its ``sourceOfRule``: of several the
    narrowest. ``effectiveRules`` has every single rule."""

    meta: PolicyMeta | None = Field(description="Its name and where it belongs")
    policy: dict[str, Any] | None = Field(
        description="The policy of the scope itself: defaults, rules, imposedAssets and status"
    )
    effective: dict[str, Any] = Field(
        description="What holds in the scope: defaults, rules and imposedAssets"
    )
    effective_updated_at: datetime = Field(
        description="When the last of the policies changed that hold in the scope"
    )
    effective_rules: list[EffectiveRule] = Field(description="Each rule that holds in the scope")


class PolicyValidation(Wire):
    error_message: str | None = Field(
        description="How the policy conflicts with those of wider scopes now; null if it does not"
    )


class PolicyStatus(Wire):
    clusters: list[dict[str, Any]] = Field(
        default=[], description="Always empty: policies are kept here, not in clusters"
    )
    validation: PolicyValidation = Field(description="Whether the policy is still valid")


class PolicyRow(Wire):
    type: WorkloadKind = Field(description="The kind of workload that it is about")
    meta: PolicyMeta = Field(description="Its name and where it belongs")
    status: PolicyStatus = Field(description="Whether it is valid")


class PolicyList(Wire):
    policies: list[PolicyRow] = Field(description="The policies")
    next: NextOffset


class PolicyListing(Pages, SortParameters, Filtered):
    """``workloadType``, ``scope`` and the ids have the same effect as ``filterBy`` with ``==``."""

    sort_by: SortBy = "name"
    workload_type: WorkloadKind | None = Field(
        default=None, description="Only policies for this kind of workload"
    )
    scope: AssetScope | None = Field(default=None, description="Only policies of this scope")
    cluster_id: UUID | None = Field(default=None, description="Only those of this cluster")
    department_id: Number | None = Field(
        default=None, description="Only policies of this department"
    )
    project_id: Number | None = Field(default=None, description="Only those of this project")
    include_fallback_policies: bool = Field(
        default=False, description="Run:ai's; has no effect, because there are none"
    )

    @property
    def columns(self) -> dict[str, Any]:
        """The values that were asked for, by column."""
        names = ("cluster_id", "department_id", "project_id")
        values = {name: getattr(self, name) for name in names} | {"kind": self.workload_type}
        if self.scope is not None:
            values["scope"] = SCOPES[self.scope]
        return {column: value for column, value in values.items() if value is not None}


def error_message(problems: Iterable[Problem]) -> str | None:
    return "; ".join(f"{problem.field} {problem.message}" for problem in problems) or None


def effective_tree(
    rules: Iterable[Rule], kind: WorkloadKind, sources: Mapping[str, SourceOfRule]
) -> Document:
    """Return the tree of the rules that hold in a scope. ``sources`` are those of rules by the key
    of their scope."""

    def describe(source: RuleSource) -> Document:
        return sources[source.scope].model_dump(mode="json", by_alias=True)

    return write_tree(rules, kind, describe_source=describe)
