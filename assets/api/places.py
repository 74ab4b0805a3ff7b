"""Finds the place that an asset belongs to from the ``meta`` of a request."""

from collections.abc import Callable
from typing import Any, Protocol
from uuid import UUID

from accounts import access
from accounts.models import User
from assets.api.schemas import IDS, AssetMetaIn, AssetScope
from clusters.models import Cluster
from core.rest.api import Issue
from projects.models import Department, Project
from projects.scopes import Place


def _departments(user: User) -> Any:
    columns = {"department": "pk", "cluster": "cluster", "project": "projects"}
    return Department.objects.filter(
        access.permitted_rows(user, "projects.read", **columns)
    ).distinct()


#: Among what of a scope the user may name one.
HOLDERS: dict[AssetScope, Callable[[User], Any]] = {
    AssetScope.CLUSTER: Cluster.objects.visible_to,
    AssetScope.DEPARTMENT: lambda user: _departments(user).select_related("cluster"),
    AssetScope.PROJECT: lambda user: Project.objects.visible_to(user).for_list(),
}
WIRE = {"cluster_id": "clusterId", "department_id": "departmentId", "project_id": "projectId"}


class Located(Protocol):
    """What says where something belongs, by a scope and the id that it needs."""

    scope: AssetScope
    cluster_id: UUID | None
    department_id: Any
    project_id: Any


def place_of(
    meta: AssetMetaIn, user: User, *, personal: bool = False
) -> tuple[Place | None, list[Issue]]:
    """The place, or what is wrong with it. The other ids may be given as far as they are true.
    ``personal``: people may have such an asset for themselves."""
    return _own(meta, user) if meta.private and personal else place_in(meta, user, at="meta.")


def place_in(meta: Located, user: User, *, at: str = "") -> tuple[Place | None, list[Issue]]:
    """The same of what belongs to nobody alone. ``at`` is where the request says it."""
    holder: Any = None
    if meta.scope is not AssetScope.TENANT:
        column = f"{meta.scope}_id"
        if (pk := getattr(meta, column)) is None:
            return None, [
                Issue(
                    field=f"{at}{WIRE[column]}", details=f"is required for the scope {meta.scope}"
                )
            ]
        holder = HOLDERS[meta.scope](user).filter(pk=pk).first()
        if holder is None:
            return None, [
                Issue(
                    field=f"{at}{WIRE[column]}",
                    details=f"is not the ID of a {meta.scope} you have access to",
                )
            ]
    own = {column: getattr(holder, column, None) for column in IDS}
    own |= {f"{meta.scope}_id": getattr(holder, "pk", None)}
    wrong = [
        Issue(field=f"{at}{WIRE[column]}", details=f"is not that of the {meta.scope}; leave it out")
        for column in IDS
        if getattr(meta, column) not in (None, own[column])
    ]
    return (None if wrong else Place(holder)), wrong


def _own(meta: AssetMetaIn, user: User) -> tuple[Place | None, list[Issue]]:
    if meta.scope is not AssetScope.TENANT:
        said = "must be tenant for what is private: it can be used in all projects"
        return None, [Issue(field="meta.scope", details=said)]
    return Place(owner=user), []
