"""REST: roles, their permissions, and the scopes in which the caller has them, with Run:ai's
names."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain
from typing import Any, Literal, get_args

from ninja import Field, Query, Router

from accounts import access
from accounts.access import AccessRole
from accounts.api.tokens import ApiRequest
from accounts.models import User
from core.rest.api import TENANT, Count, Pages, StrictBody, Wire, not_found
from core.rest.filters import DATE, ID, NUMBER, TEXT, Fields, Filtered, word_choices
from core.rest.rows import OptionalSort, WholeListing, filter_objects, sort_objects

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
    "audit": ("iam", ("events-history",)),
    "workloads": ("workload", ("workloads", "trainings", "workspaces")),
    "assets": (
        "workload-asset",
        (
            *("environments", "compute-resources", "templates", "credentials"),
            *("nfs-assets", "pvc-assets", "s3-assets", "git-assets", "host-path-assets"),
            *("cm-volume-assets", "secret-volume-assets"),
        ),
    ),
}
SCOPE_LISTS = {"cluster": "clusters", "department": "departments", "project": "projects"}
#: Run:ai's types of scope. In Trainyard users have roles in the tenant and in projects.
ScopeType = Literal["system", "tenant", "cluster", "department", "project"]
SCOPE_TYPES: tuple[str, ...] = get_args(ScopeType)
ROLE_FIELDS: Fields = {
    "id": ("id", NUMBER),
    "name": ("name", TEXT),
    "createdAt": ("created_at", DATE),
}
PERMISSION_FIELDS: Fields = {
    "resourceType": (
        "resource_type",
        word_choices(chain(*(words for _, words in RESOURCES.values()))),
    ),
    "groupId": ("group_id", word_choices(group for group, _ in RESOURCES.values())),
}
RULE_FIELDS: Fields = {
    "roleId": ("role_id", NUMBER),
    "roleName": ("role_name", word_choices(role.label for role in access.ROLES)),
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


class RoleOut(Wire):
    """Roles are part of Trainyard: ``createdAt`` is when its first user was created."""

    id: int = Field(description="Its ID")
    name: str = Field(description="The name")
    description: str = Field(description="What the role is for")
    enabled: bool = Field(default=True, description="Always true: roles cannot be switched off")
    effective_enabled: bool = Field(
        default=True, description="Always true: roles cannot be switched off"
    )
    custom: bool = Field(default=False, description="Always false: roles come with Trainyard")
    created_by: str = Field(default="", description="The username of the person who created it")
    created_at: datetime = Field(description="When it was created")
    updated_at: datetime = Field(description="When it last changed")
    permissions: list[PermissionOut] = Field(description="What the role permits")


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


class OwnRule(Wire):
    subject_id: str = Field(description="The username")
    subject_type: str = Field(default="user", description="Always user")
    role_id: int = Field(description="The ID of the role")
    role_name: str = Field(description="The name of the role")
    scope_type: str = Field(description="Where it belongs; tenant is the account with all clusters")
    scope_id: str = Field(
        description="The ID of the cluster, department or project; 1 for the scope tenant"
    )
    scope_name: str = Field(description="The name of the project, or Account")
    cluster_id: str | None = Field(description="The ID of the cluster")
    tenant_id: int = Field(default=TENANT, description="Always 1: there is one account")


class OwnRules(Wire):
    total_records: int = Field(description="How many there are on all pages")
    display_records: int = Field(description="How many are on this page")
    access_rules: list[OwnRule] = Field(description="The roles and where they apply")


class OwnRulesAnswer(Wire):
    access_rules: OwnRules = Field(description="The roles and where they apply")


class OwnRulesNarrowing(Filtered):
    def rules(self, user: User) -> list[OwnRule]:
        return filter_objects(_rules(user), self, RULE_FIELDS, "role_name", "scope_name")


class OwnRulesListing(Pages, OptionalSort, OwnRulesNarrowing):
    pass


@router.get("/authorization/roles", response=list[RoleOut])
def list_roles(request: ApiRequest, listing: Query[WholeListing]) -> list[RoleOut]:
    """All roles, with what each permits."""
    return listing.select(map(_describe_role, range(1, len(access.ROLES) + 1)), ROLE_FIELDS, "name")


@router.get("/authorization/roles/{int:role_id}", response=RoleOut)
def get_role(request: ApiRequest, role_id: int) -> RoleOut:
    """One role, by its id."""
    if not 1 <= role_id <= len(access.ROLES):
        raise not_found("The role")
    return _describe_role(role_id)


@router.get("/authorization/permissions", response=list[PermissionOut])
def list_permissions(request: ApiRequest, listing: Query[WholeListing]) -> list[PermissionOut]:
    """All permissions that a role can have."""
    every = _permissions(access.PERMISSIONS)
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
    actions = access.RESOURCES[resource] if resource else ()
    scopes = {
        action: _scopes(access.permitted_scopes(request.user, f"{resource}.{action}"))
        for action in actions
        if body.action in (None, action)
    }
    return PermittedScopesByAction(**scopes)


@router.get(
    "/authorization/me/access-rules", response=OwnRulesAnswer, operation_id="list_own_access_rules"
)
def own_rules(request: ApiRequest, listing: Query[OwnRulesListing]) -> OwnRulesAnswer:
    """Your roles, and where you have each."""
    rules = listing.rules(request.user)
    page, _ = listing.cut(sort_objects(rules, listing, RULE_FIELDS))
    answer = OwnRules(total_records=len(rules), display_records=len(page), access_rules=page)
    return OwnRulesAnswer(access_rules=answer)


@router.get(
    "/authorization/me/access-rules/count", response=Count, operation_id="count_own_access_rules"
)
def count_own_rules(request: ApiRequest, narrowing: Query[OwnRulesNarrowing]) -> Count:
    """The number of your roles."""
    return Count(count=len(narrowing.rules(request.user)))


def _resource_of_type(resource_type: str) -> str | None:
    """Return our resource for one of Run:ai's types; ``None`` if there is none."""
    for resource, (_, types) in RESOURCES.items():
        if resource_type in types:
            return resource
    return None


def _describe_role(number: int) -> RoleOut:
    role = access.ROLES[number - 1]
    first_joined = User.objects.order_by("date_joined").values_list("date_joined", flat=True)[0]
    return RoleOut(
        id=number,
        name=role.label,
        description=f"People have it in {_scope_in_words(role)}.",
        created_at=first_joined,
        updated_at=first_joined,
        permissions=list(_permissions(role.permissions)),
    )


def _scope_in_words(role: AccessRole) -> str:
    return "the whole account" if role.scope_kind == access.ACCOUNT else f"a {role.scope_kind}"


def _permissions(permitted: Iterable[str]) -> Iterator[PermissionOut]:
    """Yield permissions by Run:ai's types of resources."""
    names = set(permitted)
    for resource, (group, types) in RESOURCES.items():
        actions = [
            action for action in access.RESOURCES[resource] if f"{resource}.{action}" in names
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


def _rules(user: User) -> Iterator[OwnRule]:
    projects = {str(pk): (name, str(cluster)) for pk, name, cluster in _projects(user)}
    for role, scope in access.roles_of(user):
        kind, _, pk = scope.partition(":")
        name, cluster = projects.get(pk, ("Account", None))
        yield OwnRule(
            subject_id=user.username,
            role_id=access.ROLES.index(role) + 1,
            role_name=role.label,
            scope_type="tenant" if scope == access.ACCOUNT else kind,
            scope_id=pk or str(TENANT),
            scope_name=name,
            cluster_id=cluster,
        )


def _projects(user: User) -> Iterable[tuple[int, str, object]]:
    return user.projects.order_by("name").values_list("pk", "name", "cluster_id")
