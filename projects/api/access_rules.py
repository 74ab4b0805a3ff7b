"""REST: which users have which roles in which scopes, for those who may manage users."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Literal, get_args
from uuid import UUID

from django.db.models import Q
from ninja import Field, Query, Router, Status

from accounts import access
from accounts.api.roles import RULE_FIELDS, ScopeType
from accounts.api.tokens import ApiRequest
from accounts.models import User
from audit.models import AuditEntry
from core.rest import correlation
from core.rest.api import TENANT, ApiError, Count, Pages, StrictBody, Wire
from core.rest.filters import DATE, NUMBER, TEXT, Fields, Filtered, word_choices
from core.rest.rows import OptionalSort, filter_objects, sort_objects
from core.web.query import parse_number
from projects.api.grants import (
    AccessRule,
    AccessRuleIn,
    ScopeIn,
    SubjectIn,
    access_rules,
    cluster_of,
    find_rule,
    grant_role,
    revoke_rule,
    role_number,
    scope_of,
)

router = Router(tags=["Access"], by_alias=True)
MOST_AT_ONCE = 100
#: Run:ai's. Here only users have roles.
SubjectType = Literal["user", "app", "service-account", "group"]
SUBJECT_TYPES: tuple[str, ...] = get_args(SubjectType)
FIELDS: Fields = {
    "id": ("id", NUMBER),
    "subjectId": ("subject_id", TEXT),
    "subjectType": ("subject_type", word_choices(SUBJECT_TYPES)),
    **RULE_FIELDS,
    "createdAt": ("created_at", DATE),
    "updatedAt": ("updated_at", DATE),
    "createdBy": ("created_by", TEXT),
}


class AccessRuleOut(Wire):
    """``createdAt`` is taken from the audit log. If that has no entry, it is when the later of user
    and project was created."""

    id: int = Field(description="Its ID")
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
    created_at: datetime = Field(description="When it was created")
    updated_at: datetime = Field(description="When it last changed")
    deleted_at: datetime | None = Field(
        default=None, description="When it was deleted; null unless it was"
    )
    created_by: str = Field(description="The username of the person who created it")


class AccessRuleList(Wire):
    total_records: int = Field(description="How many there are on all pages")
    display_records: int = Field(description="How many are on this page")
    access_rules: list[AccessRuleOut] = Field(description="The roles and where they apply")


class RuleMatrix(StrictBody):
    role_id: int = Field(description="The ID of the role")
    cluster_id: UUID | None = Field(default=None, description="The ID of the cluster")
    subjects: list[SubjectIn] = Field(
        max_length=MOST_AT_ONCE, description="Who gets the role, at most 100"
    )
    scopes: list[ScopeIn] = Field(max_length=MOST_AT_ONCE, description="Where each of them gets it")


class RuleMatrixIn(StrictBody):
    """Each subject gets the role in each scope."""

    payload: RuleMatrix = Field(description="The rules: a role, whom to give it, and where")


class RefusedRule(Wire):
    payload: AccessRuleIn = Field(description="The rules: a role, whom to give it, and where")
    code: int = Field(description="The HTTP status")
    message: str = Field(
        description="What happened, in one sentence; empty if there is nothing to say"
    )


class AccessRulesCreated(Wire):
    succeeded: list[AccessRuleOut] = Field(description="The rules that were created")
    failed: list[RefusedRule] = Field(description="The rules that were refused, and why")


class AccessRuleBatch(StrictBody):
    ids: list[str] = Field(
        max_length=MOST_AT_ONCE, description="The IDs of the access rules, at most 100"
    )
    action: Literal["delete", "validate_delete"] = Field(description="What to do with each of them")


class RuleFailure(Wire):
    id: str = Field(description="Its ID")
    code: int = Field(description="The HTTP status")
    message: str = Field(
        description="What happened, in one sentence; empty if there is nothing to say"
    )


class AccessRulesDeleted(Wire):
    id: str = Field(
        default_factory=correlation.current_request_id, description="The id of the request"
    )
    succeeded: list[str] = Field(description="The IDs of the rules for which it succeeded")
    failed: list[RuleFailure] = Field(description="The rules for which it failed, and why")


class RuleNarrowing(Filtered):
    subject_type: SubjectType | Literal[""] = Field(default="", description="Always user")
    subject_id_filter: str = Field(default="", description="A part of the user's name")
    scope_type: ScopeType | Literal[""] = Field(
        default="", description="Where it belongs; tenant is the account with all clusters"
    )
    scope_id: str = Field(
        default="",
        description="The ID of the cluster, department or project; none for the scope tenant",
    )
    cluster_id: UUID | None = Field(default=None, description="Only those of this cluster")
    role_id: int | None = Field(default=None, description="The ID of the role")

    def rules(self, user: User) -> list[AccessRuleOut]:
        access.require(user, "users.read")
        rules_out = _rules_out(rule for rule in access_rules(Q(), Q()) if self._matches(rule))
        return filter_objects(rules_out, self, FIELDS, "subject_id", "role_name", "scope_name")

    def _matches(self, rule: AccessRule) -> bool:
        kind, scope = scope_of(rule)
        return (
            self.subject_type in {"", "user"}
            and self.subject_id_filter.casefold() in rule.user.username.casefold()
            and self.scope_type in {"", kind}
            and self.scope_id in {"", scope}
            and self.role_id in {None, role_number(rule.role)}
            and (self.cluster_id is None or self.cluster_id == cluster_of(rule))
        )


class RuleListing(Pages, OptionalSort, RuleNarrowing):
    pass


@router.get("/authorization/access-rules", response=AccessRuleList)
def list_access_rules(request: ApiRequest, listing: Query[RuleListing]) -> AccessRuleList:
    """Who has which role where, page by page, by user."""
    rules = listing.rules(request.user)
    page, _ = listing.cut(sort_objects(rules, listing, FIELDS))
    return AccessRuleList(total_records=len(rules), display_records=len(page), access_rules=page)


@router.get("/authorization/access-rules/count", response=Count)
def count_access_rules(request: ApiRequest, narrowing: Query[RuleNarrowing]) -> Count:
    """The number of roles that match the filters."""
    return Count(count=len(narrowing.rules(request.user)))


@router.get("/authorization/access-rules/{int:rule_id}", response=AccessRuleOut)
def get_access_rule(request: ApiRequest, rule_id: int) -> AccessRuleOut:
    """One role of a user, by its id."""
    access.require(request.user, "users.read")
    return next(_rules_out([find_rule(rule_id)]))


@router.post("/authorization/access-rules", response={201: AccessRuleOut})
def create_access_rule(request: ApiRequest, body: AccessRuleIn) -> Status[AccessRuleOut]:
    """Give someone a role in a scope."""
    return Status(201, next(_rules_out([grant_role(body, request.user)])))


@router.post("/authorization/access-rules/batch-create", response=AccessRulesCreated)
def create_many_access_rules(request: ApiRequest, body: RuleMatrixIn) -> AccessRulesCreated:
    """A role for several users in several scopes; each succeeds or fails on its own."""
    access.require(request.user, "users.update")
    matrix = body.payload
    failed = list[RefusedRule]()
    created_rules = []
    for subject in matrix.subjects:
        for scope in matrix.scopes:
            subject_and_scope = subject.model_dump(by_alias=True) | scope.model_dump(by_alias=True)
            shared_values = {"roleId": matrix.role_id, "clusterId": matrix.cluster_id}
            rule_in = AccessRuleIn.model_validate(subject_and_scope | shared_values)
            try:
                created_rules.append(grant_role(rule_in, request.user))
            except ApiError as error:
                text = error.details or error.message
                failed.append(RefusedRule(payload=rule_in, code=error.code, message=text))
    return AccessRulesCreated(succeeded=list(_rules_out(created_rules)), failed=failed)


@router.delete("/authorization/access-rules/{int:rule_id}", response={204: None})
def delete_access_rule(request: ApiRequest, rule_id: int) -> Status[None]:
    """Take a role away. The account always keeps an administrator: 409 for the last one."""
    access.require(request.user, "users.update")
    revoke_rule(find_rule(rule_id), request.user)
    return Status(204, None)


@router.post(
    "/authorization/access-rules/batch",
    response=AccessRulesDeleted,
    operation_id="change_many_access_rules",
)
def batch(request: ApiRequest, body: AccessRuleBatch) -> AccessRulesDeleted:
    """Take several roles away; each succeeds or fails on its own. ``validate_delete`` changes
    nothing and only says which exist."""
    access.require(request.user, "users.update")
    result = AccessRulesDeleted(succeeded=[], failed=[])
    for number in body.ids:
        try:
            rule = find_rule(parse_number(number) or 0)
            if body.action == "delete":
                revoke_rule(rule, request.user)
            result.succeeded.append(number)
        except ApiError as error:
            text = error.details or error.message
            result.failed.append(RuleFailure(id=number, code=error.code, message=text))
    return result


def _rules_out(page: Iterable[AccessRule]) -> Iterator[AccessRuleOut]:
    rules = list(page)
    projects = {str(rule.project.pk) for rule in rules if rule.project}
    entries = AuditEntry.objects.filter(verb="add", target_kind="project", target_id__in=projects)
    entries_by_member = {
        (it.target_id, it.after.get("member")): it for it in entries.order_by("at")
    }
    for rule in rules:
        kind, scope = scope_of(rule)
        entry = entries_by_member.get((scope, rule.user.username)) if rule.project else None
        creation_times = [
            rule.user.date_joined,
            *([rule.project.created_at] if rule.project else []),
        ]
        created_at = entry.at if entry else max(creation_times)
        cluster = cluster_of(rule)
        yield AccessRuleOut(
            id=rule.id,
            subject_id=rule.user.username,
            role_id=role_number(rule.role),
            role_name=rule.role.label,
            scope_type=kind,
            scope_id=scope,
            scope_name=rule.project.name if rule.project else "Account",
            cluster_id=str(cluster) if cluster else None,
            created_at=created_at,
            updated_at=created_at,
            created_by=entry.by_name if entry else "",
        )
