"""Who may do what, and where: the only module that knows roles.

A permission is a resource and an action, such as ``workloads.read``. A role is a name and a set of
permissions: a row of ``ROLES``. A person has a role in a scope, and the key of a scope is a plain
string: ``account``, or a kind and an id such as ``project:3``. No other module asks for a role:

- ``permitted_rows(user, "workloads.read", project="project")`` filters the rows that a list shows,
- ``may(user, "workloads.update", *project.scope_keys)`` answers for one object, and ``require``
  raises ``PermissionDenied``, which names the missing permission,
- ``permitted_scopes(user, action)`` returns the keys, and ``may_anywhere`` whether there are any.

An object that a user may not see answers 404. One that they see but may not change answers 403.

Today a person's column ``role`` makes an administrator of the account, and the membership of a
project makes a researcher there. When roles and rules become rows (subject, role, scope, until),
a new installation starts with ``ROLES``, and ``_scopes_of`` and ``permitted_users`` read the rules.
Nothing outside this module changes.
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
    "nodepools": ("create", "update", "delete"),  # to read a cluster is to read its pools
    "departments": ("read", "create", "update", "delete"),
    "projects": ("read", "create", "update", "delete"),
    "policies": ("read", "create", "update", "delete"),
    "assets": ("read", "create", "update", "delete"),
    "workloads": ("read", "create", "update", "delete"),
    "webhooks": ("read", "create", "update", "delete"),
}
PERMISSIONS = frozenset(
    f"{name}.{action}" for name, actions in RESOURCES.items() for action in actions
)


@dataclass(frozen=True)
class AccessRole:
    """A role. ``scope_kind`` is the kind of scope in which users have it today."""

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
            "policies.read",
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
    """Return the key of a scope, such as ``project:3``."""
    return f"{kind}:{pk}"


def permitted_scopes(user: User | AnonymousUser, action: str) -> frozenset[str]:
    """Return the keys of the scopes in which a user may perform an action. ``account`` alone means
    everywhere. ``ValueError`` if there is no such permission."""
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
    """Whether a user may perform an action on an object in these scopes. The account contains
    everything."""
    return not permitted_scopes(user, action).isdisjoint({ACCOUNT, *scopes})


def may_anywhere(user: User | AnonymousUser, action: str) -> bool:
    """Whether there is any scope in which a user may perform an action."""
    return bool(permitted_scopes(user, action))


def require(user: User | AnonymousUser, action: str, *scopes: str) -> None:
    """Raise ``PermissionDenied`` unless a user may perform an action on an object in these
    scopes."""
    if not may(user, action, *scopes):
        raise PermissionDenied(missing_permission_text(action, user))


def may_with_own(user: User | AnonymousUser, action: str) -> bool:
    """Whether a user may perform an action on objects that belong to them alone, in any scope.
    Every active user may; a program may if its access key covers the action."""
    return user.is_active and not _is_beyond_key(user, action)


def missing_permission_text(action: str, user: User | AnonymousUser) -> str:
    if _is_beyond_key(user, action):
        return f"This access key does not have the permission {action}. Use one that has it."
    return f"You need the permission {action} for this. Ask an administrator for it."


def permitted_rows(user: User | AnonymousUser, action: str, **columns: str) -> Q:
    """Return a filter for the rows on which a user may perform an action. ``columns`` gives, for
    each kind of scope, the column that refers to it, such as ``project="project"``."""
    scopes = permitted_scopes(user, action)
    if ACCOUNT in scopes:
        return Q()
    rows = Q(pk__in=[])
    for kind, column in columns.items():
        ids = sorted(scope.partition(":")[2] for scope in scopes if scope.startswith(f"{kind}:"))
        if ids:
            rows |= Q(**{f"{column}__in": ids})
    return rows


def permitted_users(action: str) -> QuerySet[User]:
    """Return the active users who may perform an action everywhere, the oldest account first."""
    roles = [
        role.name for role in ROLES if role.scope_kind == ACCOUNT and action in role.permissions
    ]
    return get_user_model().objects.filter(role__in=roles, is_active=True).order_by("pk")


def roles_of(user: User) -> list[tuple[AccessRole, str]]:
    """Return the roles of a user, each with the key of the scope in which they have it."""
    return [(role, scope) for role in ROLES for scope in sorted(_scopes_of(user, role))]


def role_choices() -> Choices:
    """Return the choices of a user's role."""
    return [(role.name, role.label) for role in ROLES]


def _scopes_of(user: Any, role: AccessRole) -> frozenset[str]:
    """Return the keys of the scopes in which a user has a role."""
    if role.scope_kind == ACCOUNT:
        return frozenset({ACCOUNT}) if user.role == role.name else frozenset()
    return _memberships(user)


def _is_beyond_key(user: Any, action: str) -> bool:
    """Whether a program acts with an access key that does not cover this permission."""
    key = getattr(user, "acting_key", None)
    return key is not None and not key.covers(action)


def forget_memberships(user: User) -> None:
    """Forget the projects in which a user is a member, so that they are read again."""
    user.__dict__.pop("_memberships", None)


def _memberships(user: Any) -> frozenset[str]:
    """Return the keys of the projects of which a user is a member."""
    # Cached on the User object, which lives as long as its request.
    keys: frozenset[str] | None = user.__dict__.get("_memberships")
    if keys is None:
        projects = user.projects.order_by().values_list("pk", flat=True)
        keys = frozenset(scope_key("project", pk) for pk in projects)
        user.__dict__["_memberships"] = keys
    return keys
