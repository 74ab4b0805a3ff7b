"""Read and answer access rules over REST, with Run:ai's words for subjects and scopes."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from uuid import UUID

from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Q, QuerySet
from pydantic import Field

from accounts import access, rules
from accounts.models import AccessRole, AccessRule, User, UserGroup
from core.rest.api import (
    TENANT,
    ApiError,
    Issue,
    StrictBody,
    Wire,
    issues_of,
    not_found,
    refusal_error,
)
from core.web.query import parse_number
from projects.scopes import OwningScope, Scope, find_scope, find_scopes, scopes_open_to

REFUSED = "The access rule cannot be created."
TENANT_SCOPE = "tenant"
USER = "user"
SERVICE_ACCOUNT = "service-account"
GROUP = "group"
SUBJECT_TYPES = (USER, SERVICE_ACCOUNT, GROUP)
SCOPE_TYPES = (TENANT_SCOPE, Scope.CLUSTER.value, Scope.DEPARTMENT.value, Scope.PROJECT.value)


class SubjectIn(StrictBody):
    subject_id: str = Field(description="The name of the user, group or service account, or its ID")
    subject_type: str = Field(description="One of user, group and service-account")


class ScopeIn(StrictBody):
    scope_id: str = Field(
        description="The ID of the cluster, department or project; 1 for the scope tenant"
    )
    scope_type: str = Field(description="Where it belongs; tenant is the account with all clusters")


class AccessRuleIn(SubjectIn, ScopeIn):
    """A user, a group or a service account gets a role in a scope: the ``tenant``, which is the
    whole account, a cluster, a department or a project."""

    role_id: int = Field(description="The ID of the role")
    cluster_id: UUID | None = Field(default=None, description="The ID of the cluster")
    until: datetime | None = Field(
        default=None, description="When the rule ends; never if it is null"
    )


class RuleFields(Wire):
    subject_id: str = Field(description="The name of the user, group or service account")
    subject_type: str = Field(description="One of user, group and service-account")
    role_id: int = Field(description="The ID of the role")
    role_name: str = Field(description="The name of the role")
    scope_type: str = Field(description="Where it belongs; tenant is the account with all clusters")
    scope_id: str = Field(
        description="The ID of the cluster, department or project; 1 for the scope tenant"
    )
    scope_name: str = Field(
        description="The name of the cluster, department or project, or Account"
    )
    cluster_id: str | None = Field(description="The ID of the cluster")
    tenant_id: int = Field(default=TENANT, description="Always 1: there is one account")


class AccessRuleOut(RuleFields):
    id: int = Field(description="Its ID")
    until: datetime | None = Field(description="When the rule ends; null for never")
    created_at: datetime = Field(description="When it was created")
    updated_at: datetime = Field(description="When it was created: rules do not change")
    deleted_at: datetime | None = Field(default=None, description="Always null")
    created_by: str = Field(description="The username of the person who created it")


def describe_rules(rows: Iterable[AccessRule]) -> Iterator[AccessRuleOut]:
    """Yield rules as REST shows them. A rule whose scope is being deleted is left out."""
    every = list(rows)
    scopes = find_scopes({rule.scope for rule in every})
    for rule in every:
        scope = scopes.get(rule.scope)
        if scope is None:
            continue
        yield AccessRuleOut(
            id=rule.pk,
            subject_id=str(rule.subject),
            subject_type=_subject_type(rule),
            role_id=rule.role_id,
            role_name=rule.role.name,
            scope_type=TENANT_SCOPE if scope.holder is None else scope.kind.value,
            scope_id=str(scope.holder.pk if scope.holder else TENANT),
            scope_name=str(scope.holder or scope.kind.label),
            cluster_id=str(scope.cluster.pk) if scope.cluster else None,
            until=rule.until,
            created_at=rule.created_at,
            updated_at=rule.created_at,
            created_by=str(rule.created_by or ""),
        )


def visible_rules(user: User) -> QuerySet[AccessRule]:
    """Return the rules in force that a user may see: those of scopes where they have the
    permission to."""
    rows = AccessRule.objects.in_force().for_list()
    if access.may(user, "access-rules.read"):
        return rows
    return rows.filter(scope__in=scopes_open_to(user, "access-rules.read"))


def find_rule(number: int, user: User) -> AccessRule:
    """Return the rule with this ID. Raises ``ApiError`` 404 if the user may see none."""
    rule = visible_rules(user).filter(pk=number).first()
    if rule is None:
        raise not_found("The access rule")
    return rule


def grant_role(body: AccessRuleIn, by: User) -> AccessRule:
    """Create a rule. Raises ``ApiError``: 400 with every problem, 403 without the permission, or
    409 if it exists."""
    access.require_anywhere(by, "access-rules.create")
    subject, role, scope, issues = _read_request(body, by)
    if issues or subject is None or role is None or scope is None:
        raise refusal_error(REFUSED, issues)
    try:
        return rules.add_rule(subject, role, by=by, scope_keys=scope.scope_keys, until=body.until)
    except ValidationError as error:
        if hasattr(error, "error_dict"):
            raise refusal_error(REFUSED, list(issues_of(error))) from error
        raise ApiError(409, REFUSED, details=" ".join(error.messages)) from error
    except PermissionDenied as error:
        raise ApiError(403, REFUSED, details=str(error)) from error


def revoke_rule(rule: AccessRule, by: User) -> None:
    """Delete a rule. Raises ``ApiError`` 409 if the account would lose its last administrator."""
    scope = find_scope(rule.scope)
    try:
        rules.remove_rule(rule, by=by, scope_keys=scope.scope_keys if scope else (rule.scope,))
    except ValidationError as error:
        details = " ".join(issue.details for issue in issues_of(error))
        raise ApiError(409, "The role cannot be taken away.", details=details) from error
    except PermissionDenied as error:
        text = str(error)
        raise ApiError(403, "The role cannot be taken away.", details=text) from error


def _read_request(
    body: AccessRuleIn, by: User
) -> tuple[User | UserGroup | None, AccessRole | None, OwningScope | None, list[Issue]]:
    """Return the subject, the role and the scope of a request, and every problem with it."""
    issues = []
    subject = None
    if body.subject_type not in SUBJECT_TYPES:
        choices = ", ".join(SUBJECT_TYPES)
        text = f"must be one of {choices}"
        issues.append(Issue(field="subjectType", details=text, rule="options"))
    else:
        subject = _find_subject(body.subject_type, body.subject_id)
        if subject is None:
            noun = body.subject_type.replace("-", " ")
            text = f"there is no {noun} of this name or ID"
            issues.append(Issue(field="subjectId", details=text))
    role = AccessRole.objects.filter(pk=body.role_id).first()
    if role is None:
        names = ", ".join(f"{it.pk} ({it.name})" for it in AccessRole.objects.order_by("pk"))
        issues.append(Issue(field="roleId", details=f"must be one of {names}", rule="options"))
    scope = None
    if body.scope_type not in SCOPE_TYPES:
        text = f"must be one of {', '.join(SCOPE_TYPES)}"
        issues.append(Issue(field="scopeType", details=text, rule="options"))
    elif body.scope_type == TENANT_SCOPE:
        scope = OwningScope()
        if body.scope_id != str(TENANT):
            issues.append(Issue(field="scopeId", details=f"must be {TENANT}", rule="options"))
    else:
        scope = _find_scope(body, by)
        if scope is None:
            text = f"there is no such {body.scope_type}"
            issues.append(Issue(field="scopeId", details=text))
    return subject, role, scope, issues


def _find_subject(kind: str, name: str) -> User | UserGroup | None:
    """Return a subject by its name, or else by its ID."""
    number = parse_number(name) or 0
    if kind == GROUP:
        groups = UserGroup.objects.filter(Q(name=name) | Q(pk=number))
        return next(iter(sorted(groups, key=lambda it: it.name != name)), None)
    users = User.objects.filter(is_service_account=kind == SERVICE_ACCOUNT)
    found = users.filter(Q(username=name) | Q(pk=number))
    return next(iter(sorted(found, key=lambda it: it.username != name)), None)


def _find_scope(body: AccessRuleIn, by: User) -> OwningScope | None:
    """Return the scope of a request, if ``by`` may see or give access there."""
    scope = find_scope(access.scope_key(body.scope_type, body.scope_id))
    if scope is None or (body.cluster_id and scope.cluster and scope.cluster.pk != body.cluster_id):
        return None
    is_open = access.may(by, "access-rules.create", *scope.scope_keys)
    return scope if is_open or access.may(by, "projects.read", *scope.scope_keys) else None


def _subject_type(rule: AccessRule) -> str:
    if rule.user is None:
        return GROUP
    return SERVICE_ACCOUNT if rule.user.is_service_account else USER
