"""REST: roles, their permissions, and the scopes in which the caller has them, with Run:ai's
names."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain
from typing import Any, Literal, get_args

from ninja import Field, Query, Router, Status

from accounts import access, permissions, roles
from accounts.api.tokens import ApiRequest
from accounts.models import AccessRole
from core.rest.api import TENANT, StrictBody, Wire, not_found, translate_errors
from core.rest.filters import DATE, ID, NUMBER, TEXT, Fields, word_choices
from core.rest.rows import WholeListing

router = Router(tags=["Access"], by_alias=True)

#: Run:ai's group and types of resources for each of ours. It has none for groups of users.
RESOURCES: dict[str, tuple[str, tuple[str, ...]]] = {
    "departments": ("organization", ("department",)),
    "projects": ("organization", ("project",)),
    "policies": ("organization", ("policies",)),
    "settings": ("organization", ("settings",)),
    "clusters": ("physical-resource", ("cluster",)),
    "nodepools": ("physical-resource", ("nodepools",)),
    "users": ("iam", ("users",)),
    "roles": ("iam", ("roles",)),
    "access-rules": ("iam", ("access_rules",)),
    "service-accounts": ("iam", ("service-account",)),
    "audit": ("iam", ("events-history",)),
    "workloads": ("workload", ("workloads", "trainings", "workspaces")),
    "environments": ("workload-asset", ("environments",)),
    "compute-resources": ("workload-asset", ("compute-resources",)),
    "data-sources": (
        "workload-asset",
        (
            *("nfs-assets", "pvc-assets", "s3-assets", "git-assets", "host-path-assets"),
            *("cm-volume-assets", "secret-volume-assets"),
        ),
    ),
    "credentials": ("workload-asset", ("credentials",)),
    "templates": ("workload-asset", ("templates",)),
}
REFUSED = "The role cannot be saved."
SCOPE_LISTS = {"cluster": "clusters", "department": "departments", "project": "projects"}
#: Run:ai's types of scope. Trainyard has no system scope.
ScopeType = Literal["system", "tenant", "cluster", "department", "project"]
SCOPE_TYPES: tuple[str, ...] = get_args(ScopeType)
ROLE_FIELDS: Fields = {
    "id": ("id", NUMBER),
    "name": ("name", TEXT),
    "createdAt": ("created_at", DATE),
}
SET_FIELDS: Fields = {"id": ("id", TEXT), "name": ("name", TEXT)}
PERMISSION_FIELDS: Fields = {
    "resourceType": (
        "resource_type",
        word_choices(chain(*(words for _, words in RESOURCES.values()))),
    ),
    "groupId": ("group_id", word_choices(group for group, _ in RESOURCES.values())),
}
RULE_FIELDS: Fields = {
    "roleId": ("role_id", NUMBER),
    "roleName": ("role_name", TEXT),
    "scopeType": ("scope_type", word_choices(SCOPE_TYPES)),
    "scopeId": ("scope_id", TEXT),
    "scopeName": ("scope_name", TEXT),
    "clusterId": ("cluster_id", ID),
}


class PermissionOut(Wire):
    resource_type: str = Field(description="The kind of thing, such as project")
    display_name: str = Field(description="Its name for people to read")
    group_id: str = Field(description="The group of the permission, such as workload-asset")
    actions: list[str] = Field(description="What may be done with it, such as create")


class PermissionSetRef(Wire):
    id: str = Field(description="Its ID")
    name: str = Field(description="The name")


class PermissionSetOut(PermissionSetRef):
    description: str = Field(description="What it permits, in words")
    permissions: list[PermissionOut] = Field(description="What it permits")


class PermissionSetIn(StrictBody):
    """``name`` is ignored: Run:ai sends it with the ``id``."""

    id: str = Field(description="The ID of the permission set, such as manage-workloads")
    name: str | None = Field(default=None, description="Ignored")


class RoleOut(Wire):
    id: int = Field(description="Its ID")
    name: str = Field(description="The name")
    description: str = Field(description="What the role is for")
    enabled: bool = Field(default=True, description="Always true: roles cannot be switched off")
    effective_enabled: bool = Field(
        default=True, description="Always true: roles cannot be switched off"
    )
    custom: bool = Field(
        default=False, description="Whether it was created here; the others come with Trainyard"
    )
    created_by: str = Field(default="", description="The username of the person who created it")
    created_at: datetime = Field(description="When it was created")
    updated_at: datetime = Field(description="When it last changed")
    permissions: list[PermissionOut] = Field(description="What the role permits")
    permission_sets: list[PermissionSetRef] = Field(
        description="The permission sets of which the role is the union"
    )


class RoleIn(StrictBody):
    """A custom role: the union of permission sets. ``enabled`` can only be true."""

    name: str = Field(min_length=1, max_length=100, description="The name")
    description: str = Field(default="", max_length=250, description="What the role is for")
    enabled: Literal[True] = Field(default=True, description="Can only be true")
    permission_sets: list[PermissionSetIn] = Field(
        min_length=1, description="What the role permits"
    )

    def values(self) -> dict[str, Any]:
        """Return the keyword arguments of the services for roles."""
        ids = [it.id for it in self.permission_sets]
        return {"name": self.name, "description": self.description, "permission_sets": ids}


class ScopesIn(StrictBody):
    """Without ``action`` the answer has all actions."""

    resource_type: str = Field(description="The kind of thing, such as project")
    action: str | None = Field(
        default=None, description="The action, such as create; all of them if it is null"
    )


class PermittedScopesOut(Wire):
    """``tenant`` is set if the action is permitted everywhere; the lists are empty then."""

    tenant: str | None = Field(
        default=None, description="The number of the account, if the action is permitted everywhere"
    )
    clusters: list[str] = Field(default=[], description="The IDs of clusters")
    departments: list[str] = Field(default=[], description="The IDs of departments")
    projects: list[str] = Field(default=[], description="The IDs of projects")


class PermittedScopesByAction(Wire):
    create: PermittedScopesOut | None = Field(default=None, description="Where you may create")
    read: PermittedScopesOut | None = Field(default=None, description="Where you may read")
    update: PermittedScopesOut | None = Field(default=None, description="Where you may update")
    delete: PermittedScopesOut | None = Field(default=None, description="Where you may delete")


@router.get("/authorization/roles", response=list[RoleOut], url_name="access-roles")
def list_roles(request: ApiRequest, listing: Query[WholeListing]) -> list[RoleOut]:
    """All roles, with what each permits."""
    rows = AccessRole.objects.select_related("created_by").order_by("pk")
    return listing.select(map(_describe_role, rows), ROLE_FIELDS, "name")


@router.get("/authorization/roles/{int:role_id}", response=RoleOut, url_name="access-role")
def get_role(request: ApiRequest, role_id: int) -> RoleOut:
    """One role, by its id."""
    return _describe_role(_find_role(role_id))


@router.post("/authorization/roles", response={201: RoleOut})
def create_role(request: ApiRequest, body: RoleIn) -> Status[RoleOut]:
    """Create a role of permission sets. You can only give it what you may do yourself in the whole
    account."""
    with translate_errors(REFUSED):
        role = roles.create_role(by=request.user, **body.values())
    return Status(201, _describe_role(role))


@router.put("/authorization/roles/{int:role_id}", response=RoleOut)
def update_role(request: ApiRequest, role_id: int, body: RoleIn) -> RoleOut:
    """Change a custom role, with immediate effect for all who have it."""
    role = _find_role(role_id)
    with translate_errors(REFUSED):
        roles.update_role(role, by=request.user, **body.values())
    return _describe_role(role)


@router.delete("/authorization/roles/{int:role_id}", response={204: None})
def delete_role(request: ApiRequest, role_id: int) -> Status[None]:
    """Delete a custom role. 409 while access rules give it."""
    role = _find_role(role_id)
    with translate_errors(REFUSED):
        roles.delete_role(role, by=request.user)
    return Status(204, None)


@router.get(
    "/authorization/permission-sets",
    response=list[PermissionSetOut],
    url_name="permission-sets",
)
def list_permission_sets(
    request: ApiRequest, listing: Query[WholeListing]
) -> list[PermissionSetOut]:
    """All permission sets, of which custom roles are unions."""
    every = [
        PermissionSetOut(
            id=it.id,
            name=it.name,
            description=", ".join(sorted(it.permissions)),
            permissions=list(_permissions(it.permissions)),
        )
        for it in permissions.PERMISSION_SETS.values()
    ]
    return listing.select(every, SET_FIELDS, "id", "name")


@router.get("/authorization/permissions", response=list[PermissionOut])
def list_permissions(request: ApiRequest, listing: Query[WholeListing]) -> list[PermissionOut]:
    """All permissions that a role can have."""
    every = _permissions(permissions.PERMISSIONS)
    return listing.select(every, PERMISSION_FIELDS, "resource_type", "display_name")


@router.post(
    "/authorization/permitted-scopes",
    response=PermittedScopesByAction,
    exclude_unset=True,
    operation_id="read_permitted_scopes",
)
def permitted_scopes(request: ApiRequest, body: ScopesIn) -> PermittedScopesByAction:
    """The scopes in which you may do which actions with a type of resource. It changes nothing."""
    resource = _resource_of_type(body.resource_type)
    actions = permissions.RESOURCES[resource] if resource else ()
    scopes = {
        action: _scopes(access.permitted_scopes(request.user, f"{resource}.{action}"))
        for action in actions
        if body.action in (None, action)
    }
    return PermittedScopesByAction(**scopes)


def _find_role(role_id: int) -> AccessRole:
    role = AccessRole.objects.select_related("created_by").filter(pk=role_id).first()
    if role is None:
        raise not_found("The role")
    return role


def _resource_of_type(resource_type: str) -> str | None:
    """Return our resource for one of Run:ai's types; ``None`` if there is none."""
    for resource, (_, types) in RESOURCES.items():
        if resource_type in types:
            return resource
    return None


def _describe_role(role: AccessRole) -> RoleOut:
    return RoleOut(
        id=role.pk,
        name=role.name,
        description=role.description,
        custom=not role.predefined,
        created_by=str(role.created_by or ""),
        created_at=role.created_at,
        updated_at=role.updated_at,
        permissions=list(_permissions(role.permissions)),
        permission_sets=[
            PermissionSetRef(id=it, name=permissions.PERMISSION_SETS[it].name)
            for it in roles.sets_of(role)
        ],
    )


def _permissions(permitted: Iterable[str]) -> Iterator[PermissionOut]:
    """Yield permissions by Run:ai's types of resources."""
    names = set(permitted)
    for resource, (group, types) in RESOURCES.items():
        actions = [
            action for action in permissions.RESOURCES[resource] if f"{resource}.{action}" in names
        ]
        if not actions:
            continue
        for type_ in types:
            yield PermissionOut(
                resource_type=type_,
                display_name=type_.replace("-", " ").capitalize(),
                group_id=group,
                actions=actions,
            )


def _scopes(keys: frozenset[str]) -> PermittedScopesOut:
    if access.ACCOUNT in keys:
        return PermittedScopesOut(tenant=str(TENANT))
    scopes: dict[str, Any] = {}
    for scope in sorted(keys):
        kind, _, pk = scope.partition(":")
        scopes.setdefault(SCOPE_LISTS[kind], []).append(pk)
    return PermittedScopesOut(**scopes)
