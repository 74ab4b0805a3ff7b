"""REST: the scope that an asset or a policy belongs to, as requests name it."""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any, Protocol
from uuid import UUID

from pydantic import Field

from accounts import access
from accounts.models import User
from clusters.models import Cluster
from core.rest.api import Issue
from projects.models import Department, Project
from projects.scopes import OwningScope, Scope

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


def _departments(user: User) -> Any:
    columns = {"department": "pk", "cluster": "cluster", "project": "projects"}
    return Department.objects.filter(
        access.permitted_rows(user, "projects.read", **columns)
    ).distinct()


#: For each scope, the objects that the user may name.
HOLDERS: dict[AssetScope, Callable[[User], Any]] = {
    AssetScope.CLUSTER: Cluster.objects.visible_to,
    AssetScope.DEPARTMENT: lambda user: _departments(user).select_related("cluster"),
    AssetScope.PROJECT: lambda user: Project.objects.visible_to(user).for_list(),
}
WIRE_NAMES = {"cluster_id": "clusterId", "department_id": "departmentId", "project_id": "projectId"}


class ScopeIds(Protocol):
    """A request's scope, and the id that this scope needs."""

    scope: AssetScope
    cluster_id: UUID | None
    department_id: Any
    project_id: Any


def shared_scope_from(
    meta: ScopeIds, user: User, *, prefix: str = ""
) -> tuple[OwningScope | None, list[Issue]]:
    """Return the shared scope in ``meta``, or ``None`` and the issues with it. ``prefix`` is the
    path of ``meta`` in the request."""
    holder: Any = None
    if meta.scope is not AssetScope.TENANT:
        column = f"{meta.scope}_id"
        if (pk := getattr(meta, column)) is None:
            return None, [
                Issue(
                    field=f"{prefix}{WIRE_NAMES[column]}",
                    details=f"is required for the scope {meta.scope}",
                    rule="required",
                )
            ]
        holder = HOLDERS[meta.scope](user).filter(pk=pk).first()
        if holder is None:
            return None, [
                Issue(
                    field=f"{prefix}{WIRE_NAMES[column]}",
                    details=f"is not the ID of a {meta.scope} you have access to",
                )
            ]
    actual_ids = {column: getattr(holder, column, None) for column in IDS}
    actual_ids |= {f"{meta.scope}_id": getattr(holder, "pk", None)}
    issues = [
        Issue(
            field=f"{prefix}{WIRE_NAMES[column]}",
            details=f"is not that of the {meta.scope}; leave it out",
        )
        for column in IDS
        if getattr(meta, column) not in (None, actual_ids[column])
    ]
    return (None if issues else OwningScope(holder)), issues
