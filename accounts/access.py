"""Who may do what, and where: the only module that knows roles and access rules.

A permission is a resource and an action, such as ``workloads.read``. A role is a named set of
permissions. An access rule gives a role to a person, a group or a service account, in a scope,
perhaps until a time. The key of a scope is a plain string: ``account``, or a kind and an id such as
``project:3``. No other module asks for a role:

- ``permitted_rows(user, "workloads.read", project="project")`` filters the rows that a list shows,
- ``may(user, "workloads.update", *project.scope_keys)`` answers for one object, and ``require``
  raises ``PermissionDenied``, which names the missing permission and who has it,
- ``permitted_scopes(user, action)`` returns the keys, and ``may_anywhere`` whether there are any.

An object that a user may not see answers 404. One that they see but may not change answers 403.

``accounts.rules`` creates and deletes rules. The scopes of an object, which its ``scope_keys``
returns, are its own and all that contain it, so a rule of a department applies in its projects.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.utils.text import get_text_list

from accounts.models import AccessRole, AccessRule, GroupMembership, User
from accounts.permissions import ACCOUNT_RESOURCES, PERMISSIONS

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

ACCOUNT = "account"  # the scope that holds all others
MOST_NAMED = 3  # people whom a refusal names


class MissingPermission(PermissionDenied):
    """A user lacks a permission. The message says who has it."""

    def __init__(self, action: str, text: str) -> None:
        super().__init__(text)
        self.action = action


def scope_key(kind: str, pk: Any) -> str:
    """Return the key of a scope, such as ``project:3``."""
    return f"{kind}:{pk}"


def permitted_scopes(user: User | AnonymousUser, action: str) -> frozenset[str]:
    """Return the keys of the scopes in which a user may perform an action. ``account`` alone means
    everywhere. ``ValueError`` if there is no such permission."""
    if action not in PERMISSIONS:
        raise ValueError(f"There is no permission {action}.")
    if not user.is_active or _is_beyond_key(user, action):  # anonymous users are not active either
        return frozenset()
    scopes = _scopes_by_rules(user, action)
    if ACCOUNT in scopes:
        return frozenset({ACCOUNT})
    return frozenset() if action.partition(".")[0] in ACCOUNT_RESOURCES else scopes


def has_rule_for(user: User, action: str) -> bool:
    """Whether the rules of a user permit an action in the whole account, even while the user is
    deactivated."""
    return ACCOUNT in _scopes_by_rules(user, action)


def _scopes_by_rules(user: Any, action: str) -> frozenset[str]:
    return frozenset().union(
        *(scopes for permissions, scopes in _roles_of(user) if action in permissions)
    )


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
        raise MissingPermission(action, missing_permission_text(action, user, *scopes))


def require_anywhere(user: User | AnonymousUser, action: str) -> None:
    """Raise ``PermissionDenied`` if there is no scope in which a user may perform an action. Ask
    before an object is looked up, and then for its scopes."""
    if not may_anywhere(user, action):
        raise MissingPermission(action, missing_permission_text(action, user))


def may_with_own(user: User | AnonymousUser, action: str) -> bool:
    """Whether a user may perform an action on objects that belong to them alone, in any scope.
    Every active user may; a program may if its access key covers the action."""
    return user.is_active and not _is_beyond_key(user, action)


def missing_permission_text(action: str, user: User | AnonymousUser, *scopes: str) -> str:
    """Return why a user may not do this in these scopes, and who may."""
    if _is_beyond_key(user, action):
        return f"This access key does not have the permission {action}. Use one that has it."
    people = [str(it) for it in permitted_users(action, *scopes)[:MOST_NAMED]]
    whom = get_text_list(people, "or") or "an administrator"
    return f"You need the permission {action} for this. Ask {whom} for it."


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


def permitted_users(action: str, *scopes: str) -> QuerySet[User]:
    """Return the active people who may perform an action in these scopes, the oldest account
    first. Without scopes: everywhere."""
    roles = [role.pk for role in AccessRole.objects.all() if action in role.permissions]
    rules = AccessRule.objects.in_force().filter(role__in=roles, scope__in=[ACCOUNT, *scopes])
    return people_of(rules).order_by("pk")


def people_of(rules: QuerySet[AccessRule]) -> QuerySet[User]:
    """Return the active people to whom these rules apply, by themselves or by a group."""
    groups = rules.exclude(group=None).values("group")
    members = GroupMembership.objects.filter(group__in=groups).values("user")
    subjects = Q(pk__in=rules.exclude(user=None).values("user")) | Q(pk__in=members)
    return User.objects.filter(subjects, is_active=True, is_service_account=False)


def scopes_of(user: User) -> frozenset[str]:
    """Return the keys of the scopes in which a user has any role."""
    return frozenset().union(*(scopes for _, scopes in _roles_of(user)))


def account_roles_of(users: Iterable[User]) -> dict[int, list[str]]:
    """Return the names of the roles that each user has in the whole account by a rule of their
    own, by the user's id."""
    names: dict[int, list[str]] = {user.pk: [] for user in users}
    rules = AccessRule.objects.in_force().filter(scope=ACCOUNT, user__in=list(names))
    for user, role in rules.order_by("role__name").values_list("user", "role__name"):
        names[user].append(role)
    return names


def _is_beyond_key(user: Any, action: str) -> bool:
    """Whether a program acts with an access key that does not cover this permission."""
    key = getattr(user, "acting_key", None)
    return key is not None and not key.covers(action)


def forget_rules(*users: User) -> None:
    """Forget the rules of these users, so that they are read again."""
    for user in users:
        user.__dict__.pop("_roles", None)


def _roles_of(user: Any) -> Iterable[tuple[frozenset[str], frozenset[str]]]:
    """Return the permissions of each role of a user, and the keys of the scopes where they have
    it."""
    # Cached on the User object, which lives as long as its request.
    roles: Iterable[tuple[frozenset[str], frozenset[str]]] | None = user.__dict__.get("_roles")
    if roles is None:
        permissions: dict[int, frozenset[str]] = {}
        scopes: dict[int, set[str]] = {}
        rules = AccessRule.objects.in_force().about(user)
        for role, names, scope in rules.values_list("role", "role__permissions", "scope"):
            permissions.setdefault(role, frozenset(names))
            scopes.setdefault(role, set()).add(scope)
        roles = [(permissions[role], frozenset(keys)) for role, keys in scopes.items()]
        user.__dict__["_roles"] = roles
    return roles
