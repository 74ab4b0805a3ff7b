"""Who may do what, and where: the only module that knows roles.

A permission is a resource and an action, such as ``workloads.read``. A role is a name and a set of
permissions: a row of ``ROLES``. A person has a role in a scope, and the key of a scope is a plain
string: ``account``, or a kind and an id such as ``project:3``. Nobody else asks for a role:

- ``reach(user, "workloads.read", project="project")`` is a filter: the rows that a list shows,
- ``may(user, "workloads.update", *project.scope_keys)`` answers for one thing, and ``require``
  raises ``PermissionDenied`` that names the permission that is missing,
- ``grants(user, action)`` gives the keys themselves, ``anywhere`` whether there are any.

What one may not see is 404; what one may see and not do is 403.

Today a person's column ``role`` makes an administrator of the account, and the membership of a
project makes a researcher there. When roles and rules become rows (subject, role, scope, until),
``ROLES`` is what a new installation starts with and ``_scopes_of`` and ``who_may`` read the rules:
nothing outside this module changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet

from core.database.choices import Choices

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

ACCOUNT = "account"  # the scope that holds all others
RESOURCES = {
    "users": ("read", "create", "update"),
    "groups": ("read", "create", "update", "delete"),
    "audit": ("read",),
    "settings": ("read", "update"),
    "clusters": ("read", "create", "update", "delete"),
    "nodepools": ("create", "update", "delete"),  # who sees a cluster sees its pools
    "departments": ("read", "create", "update", "delete"),
    "projects": ("read", "create", "update", "delete"),
    "assets": ("read", "create", "update", "delete"),
    "workloads": ("read", "create", "update", "delete"),
    "webhooks": ("read", "create", "update", "delete"),
}
PERMISSIONS = frozenset(
    f"{name}.{action}" for name, actions in RESOURCES.items() for action in actions
)


@dataclass(frozen=True)
class AccessRole:
    """A role. ``held_in`` is the kind of scope in which people have it today."""

    name: str
    label: str
    scope_kind: str
    permissions: frozenset[str]


ADMINISTRATOR = AccessRole("administrator", "Administrator", ACCOUNT, PERMISSIONS)
RESEARCHER = AccessRole(
    "researcher",
    "Researcher",
    "project",
    frozenset(
        {
            "clusters.read",
            "projects.read",
            "assets.read",
            "assets.create",
            "assets.update",
            "assets.delete",
            "workloads.read",
            "workloads.create",
            "workloads.update",
            "workloads.delete",
            "webhooks.read",
            "webhooks.create",
            "webhooks.update",
            "webhooks.delete",
        }
    ),
)
ROLES = (ADMINISTRATOR, RESEARCHER)


def scope_key(kind: str, pk: Any) -> str:
    """The key of a scope, such as ``project:3``."""
    return f"{kind}:{pk}"


def permitted_scopes(user: User | AnonymousUser, action: str) -> frozenset[str]:
    """The keys of the scopes in which someone may do it; ``account`` alone says everywhere."""
    if action not in PERMISSIONS:
        raise ValueError(f"There is no permission {action}.")
    scopes: frozenset[str] = frozenset()
    if not user.is_active or _is_beyond_key(user, action):  # anonymous users are not active either
        return scopes
    for role in ROLES:
        if action in role.permissions and ACCOUNT not in scopes:
            scopes |= _scopes_of(user, role)
    return scopes


def may(user: User | AnonymousUser, action: str, *scopes: str) -> bool:
    """Whether someone may do it to what these scopes hold; the account holds everything."""
    return not permitted_scopes(user, action).isdisjoint({ACCOUNT, *scopes})


def may_anywhere(user: User | AnonymousUser, action: str) -> bool:
    """Whether there is any scope in which someone may do it."""
    return bool(permitted_scopes(user, action))


def require(user: User | AnonymousUser, action: str, *scopes: str) -> None:
    """``PermissionDenied`` unless someone may do it to what these scopes hold."""
    if not may(user, action, *scopes):
        raise PermissionDenied(missing_permission_text(action, user))


def may_with_own(user: User | AnonymousUser, action: str) -> bool:
    """Whether someone may do it to what is theirs alone, wherever that is: anybody who signs in,
    and a program whose access key does not leave it out."""
    return user.is_active and not _is_beyond_key(user, action)


def missing_permission_text(action: str, user: User | AnonymousUser) -> str:
    if _is_beyond_key(user, action):
        return f"This access key does not have the permission {action}. Use one that has it."
    return f"You need the permission {action} for this. Ask an administrator for it."


def permitted_rows(user: User | AnonymousUser, action: str, **columns: str) -> Q:
    """A filter for the rows of a model to which someone may do it. ``columns`` names the column by
    which each kind of scope holds a row, such as ``project="project"``."""
    scopes = permitted_scopes(user, action)
    if ACCOUNT in scopes:
        return Q()
    reached = Q(pk__in=[])
    for kind, column in columns.items():
        ids = sorted(scope.partition(":")[2] for scope in scopes if scope.startswith(f"{kind}:"))
        if ids:
            reached |= Q(**{f"{column}__in": ids})
    return reached


def permitted_users(action: str) -> QuerySet[User]:
    """The people who may sign in and do it everywhere."""
    names = [it.name for it in ROLES if it.scope_kind == ACCOUNT and action in it.permissions]
    return get_user_model().objects.filter(role__in=names, is_active=True).order_by("pk")


def roles_of(user: User) -> list[tuple[AccessRole, str]]:
    """The roles of a person, each with the key of the scope in which they have it."""
    return [(role, scope) for role in ROLES for scope in sorted(_scopes_of(user, role))]


def role_choices() -> Choices:
    """The choices of a person's role."""
    return [(role.name, role.label) for role in ROLES]


def _scopes_of(user: Any, role: AccessRole) -> frozenset[str]:
    """Where someone has a role."""
    if role.scope_kind == ACCOUNT:
        return frozenset({ACCOUNT}) if user.role == role.name else frozenset()
    return _memberships(user)


def _is_beyond_key(user: Any, action: str) -> bool:
    """Whether a program acts with an access key that leaves this permission out."""
    key = getattr(user, "acting_key", None)
    return key is not None and not key.covers(action)


def forget_memberships(user: User) -> None:
    """Forget the projects in which a user is a member, so that they are read again."""
    user.__dict__.pop("_memberships", None)


def _memberships(user: Any) -> frozenset[str]:
    """The keys of the projects in which someone is a member. Read once for each ``User`` object, of
    which each request has its own."""
    kept: frozenset[str] | None = user.__dict__.get("_memberships")
    if kept is None:
        projects = user.projects.order_by().values_list("pk", flat=True)
        kept = user.__dict__["_memberships"] = frozenset(
            scope_key("project", pk) for pk in projects
        )
    return kept
