"""Roles of users as numbered access rules.

A role in the account is a column of the user, and a role in a project is a membership. Neither has
a table of rules, so the numbers come from their ids: even for memberships, odd for users.
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


def access_rules(user_filter: Q, membership_filter: Q) -> Iterator[AccessRule]:
    """Yield all rules, sorted by user; the rule of the account comes first. The filters apply to
    the tables of users and of memberships."""
    administrators = User.objects.filter(user_filter, role=access.ADMINISTRATOR.name)
    rules = [AccessRule(2 * it.pk + 1, it, access.ADMINISTRATOR) for it in administrators]
    memberships = Membership.objects.filter(membership_filter).select_related("user", "project")
    rules += [AccessRule(2 * it.pk, it.user, access.RESEARCHER, it.project) for it in memberships]
    yield from sorted(rules, key=lambda it: (it.user.username, str(it.project or "")))


def find_rule(number: int) -> AccessRule:
    """Return the rule with this number. Raises ``ApiError`` 404 if there is none."""
    pk, is_of_account = divmod(number, 2)
    nothing = Q(pk__in=[])
    user_filter, membership_filter = (Q(pk=pk), nothing) if is_of_account else (nothing, Q(pk=pk))
    rule = next(access_rules(user_filter, membership_filter), None)
    if rule is None:
        raise not_found("The access rule")
    return rule


def grant_role(body: AccessRuleIn, by: User) -> AccessRule:
    """Create a rule. Raises ``ApiError``: 400 with every problem, or 409 if it exists."""
    access.require(by, "users.update")
    user, project, issues = _read_request(body)
    if issues or user is None:
        raise refusal_error(REFUSED, issues)
    if project is not None:
        if not services.add_member(project, user, by=by):
            raise ApiError(409, REFUSED, details=f"{user} is a member of {project} already.")
        return next(access_rules(Q(pk__in=[]), Q(project=project, user=user)))
    if user.role == access.ADMINISTRATOR.name:
        raise ApiError(409, REFUSED, details=f"{user} is already an administrator.")
    _set_account_role(user, access.ADMINISTRATOR, by)
    return next(access_rules(Q(pk=user.pk), Q(pk__in=[])))


def _read_request(body: AccessRuleIn) -> tuple[User | None, Project | None, list[Issue]]:
    """Return the user and the project of a request, and every problem with it."""
    issues = []
    if body.subject_type != "user":
        issues.append(Issue(field="subjectType", details=ONLY_USERS, rule="options"))
    is_subject = Q(username=body.subject_id) | Q(pk=parse_number(body.subject_id) or 0)
    user = User.objects.filter(is_subject).order_by("pk").first()
    if user is None:
        issues.append(Issue(field="subjectId", details="there is no user of this name or ID"))
    role = _role_by_number(body.role_id)
    project = None
    if role is None:
        choices = ", ".join(f"{role_number(it)} ({it.label})" for it in access.ROLES)
        issues.append(Issue(field="roleId", details=f"must be one of {choices}", rule="options"))
    elif body.scope_type != (scope_type := _scope_type(role)):
        text = f"must be {scope_type}, in which people have the role {role.label}"
        issues.append(Issue(field="scopeType", details=text, rule="options"))
    elif scope_type == TENANT_SCOPE:
        if body.scope_id != str(TENANT):
            issues.append(Issue(field="scopeId", details=f"must be {TENANT}", rule="options"))
    else:
        project = Project.objects.filter(pk=parse_number(body.scope_id) or 0).first()
        if project is None or body.cluster_id not in {None, project.cluster_id}:
            issues.append(Issue(field="scopeId", details="there is no such project"))
    return user, project, issues


def revoke_rule(rule: AccessRule, by: User) -> None:
    """Delete a rule. Raises ``ApiError`` 409 if the account would lose its last administrator."""
    access.require(by, "users.update")
    if rule.project is not None:
        services.remove_member(rule.project, rule.user, by=by)
    else:
        _set_account_role(rule.user, access.RESEARCHER, by)


def _set_account_role(user: User, role: AccessRole, by: User) -> None:
    """Set the user's role in the account."""
    names = ("email", "first_name", "last_name")
    unchanged_values = {name: getattr(user, name) for name in names}
    try:
        users.update_user(user, by=by, role=role.name, **unchanged_values)
    except ValidationError as error:
        details = " ".join(issue.details for issue in issues_of(error))
        raise ApiError(409, "The role cannot be changed.", details=details) from error


def _role_by_number(number: int) -> AccessRole | None:
    return access.ROLES[number - 1] if 1 <= number <= len(access.ROLES) else None


def role_number(role: AccessRole) -> int:
    """Return the role's number in the list of roles."""
    return access.ROLES.index(role) + 1


def _scope_type(role: AccessRole) -> str:
    return TENANT_SCOPE if role.scope_kind == access.ACCOUNT else role.scope_kind


def scope_of(rule: AccessRule) -> tuple[str, str]:
    """Return the type and the id of the rule's scope."""
    return _scope_type(rule.role), str(rule.project.pk if rule.project else TENANT)


def cluster_of(rule: AccessRule) -> UUID | None:
    """Return the cluster of the rule's project, or ``None`` for the account."""
    return rule.project.cluster_id if rule.project else None
