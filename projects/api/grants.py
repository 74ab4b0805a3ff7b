"""Roles of users as numbered rules.

A role in the account is a column of the user, one in a project is a membership. Both get numbers
from their ids: even for memberships, odd for users.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import Q
from pydantic import Field

from accounts import access
from accounts import services as users
from accounts.access import AccessRole
from accounts.models import User
from core.rest.api import TENANT, ApiError, Issue, StrictBody, issues_of, not_found, refusal_error
from core.web.query import parse_number
from projects import services
from projects.models import Project

Membership: Any = Project.members.through
REFUSED = "The access rule cannot be created."
TENANT_SCOPE = "tenant"
ONLY_USERS = "only users have roles here; use user"


@dataclass(frozen=True)
class AccessRule:
    """A role in the whole account, or in a ``project``."""

    id: int
    user: User
    role: AccessRole
    project: Project | None = None


class SubjectIn(StrictBody):
    subject_id: str = Field(description="The username")
    subject_type: str = Field(description="Always user")


class ScopeIn(StrictBody):
    scope_id: str = Field(
        description="The ID of the cluster, department or project; 1 for the scope tenant"
    )
    scope_type: str = Field(description="Where it belongs; tenant is the account with all clusters")


class AccessRuleIn(SubjectIn, ScopeIn):
    """A user by name or ID gets a role in a scope: Administrator in the ``tenant``, which is the
    whole account, Researcher in a ``project``."""

    role_id: int = Field(description="The ID of the role")
    cluster_id: UUID | None = Field(default=None, description="The ID of the cluster")


def access_rules(people: Q, members: Q) -> Iterator[AccessRule]:
    """All rules by user, that of the account first. ``people`` and ``members`` narrow the two
    tables."""
    of_account = User.objects.filter(people, role=access.ADMINISTRATOR.name)
    held = [AccessRule(2 * it.pk + 1, it, access.ADMINISTRATOR) for it in of_account]
    of_projects = Membership.objects.filter(members).select_related("user", "project")
    held += [AccessRule(2 * it.pk, it.user, access.RESEARCHER, it.project) for it in of_projects]
    yield from sorted(held, key=lambda it: (it.user.username, str(it.project or "")))


def find_rule(number: int) -> AccessRule:
    """The rule with this number. Raises ``ApiError`` 404 if there is none."""
    pk, is_of_account = divmod(number, 2)
    none = Q(pk__in=[])
    people, members = (Q(pk=pk), none) if is_of_account else (none, Q(pk=pk))
    rule = next(access_rules(people, members), None)
    if rule is None:
        raise not_found("The access rule")
    return rule


def grant_role(body: AccessRuleIn, by: User) -> AccessRule:
    """Create a rule. Raises ``ApiError``: 400 with every problem, or 409 if it exists."""
    access.require(by, "users.update")
    user, project, wrong = _read_request(body)
    if wrong or user is None:
        raise refusal_error(REFUSED, wrong)
    if project is not None:
        if not services.add_member(project, user, by=by):
            raise ApiError(409, REFUSED, details=f"{user} is a member of {project} already.")
        return next(access_rules(Q(pk__in=[]), Q(project=project, user=user)))
    if user.role == access.ADMINISTRATOR.name:
        raise ApiError(409, REFUSED, details=f"{user} is already an administrator.")
    _set_account_role(user, access.ADMINISTRATOR, by)
    return next(access_rules(Q(pk=user.pk), Q(pk__in=[])))


def _read_request(body: AccessRuleIn) -> tuple[User | None, Project | None, list[Issue]]:
    """The user and project of a request, and every problem with it."""
    wrong = []
    if body.subject_type != "user":
        wrong.append(Issue(field="subjectType", details=ONLY_USERS, rule="options"))
    named = Q(username=body.subject_id) | Q(pk=parse_number(body.subject_id) or 0)
    user = User.objects.filter(named).order_by("pk").first()
    if user is None:
        wrong.append(Issue(field="subjectId", details="there is no user of this name or ID"))
    role = _role_by_number(body.role_id)
    project = None
    if role is None:
        choices = ", ".join(f"{role_number(it)} ({it.label})" for it in access.ROLES)
        wrong.append(Issue(field="roleId", details=f"must be one of {choices}", rule="options"))
    elif body.scope_type != (kind := _scope_type(role)):
        text = f"must be {kind}, in which people have the role {role.label}"
        wrong.append(Issue(field="scopeType", details=text, rule="options"))
    elif kind == TENANT_SCOPE:
        if body.scope_id != str(TENANT):
            wrong.append(Issue(field="scopeId", details=f"must be {TENANT}", rule="options"))
    else:
        project = Project.objects.filter(pk=parse_number(body.scope_id) or 0).first()
        if project is None or body.cluster_id not in {None, project.cluster_id}:
            wrong.append(Issue(field="scopeId", details="there is no such project"))
    return user, project, wrong


def revoke_rule(rule: AccessRule, by: User) -> None:
    """Delete a rule. Raises ``ApiError`` 409 if it has to stay."""
    access.require(by, "users.update")
    if rule.project is not None:
        services.remove_member(rule.project, rule.user, by=by)
    else:
        _set_account_role(rule.user, access.RESEARCHER, by)


def _set_account_role(user: User, role: AccessRole, by: User) -> None:
    """Set the user's role in the account."""
    names = ("email", "first_name", "last_name")
    kept = {name: getattr(user, name) for name in names}
    try:
        users.update_user(user, by=by, role=role.name, **kept)
    except ValidationError as error:
        details = " ".join(issue.details for issue in issues_of(error))
        raise ApiError(409, "The role cannot be changed.", details=details) from error


def _role_by_number(number: int) -> AccessRole | None:
    return access.ROLES[number - 1] if 1 <= number <= len(access.ROLES) else None


def role_number(role: AccessRole) -> int:
    """The role's number in the list of roles."""
    return access.ROLES.index(role) + 1


def _scope_type(role: AccessRole) -> str:
    return TENANT_SCOPE if role.scope_kind == access.ACCOUNT else role.scope_kind


def scope_of(rule: AccessRule) -> tuple[str, str]:
    """Type and id of the rule's scope."""
    return _scope_type(rule.role), str(rule.project.pk if rule.project else TENANT)


def cluster_of(rule: AccessRule) -> UUID | None:
    """The cluster of the rule's project; ``None`` for the account."""
    return rule.project.cluster_id if rule.project else None
