"""REST: which users, groups and service accounts have which roles in which scopes."""

from typing import Literal, get_args
from uuid import UUID

from ninja import Field, Query, Router, Status

from accounts import access
from accounts.api.roles import RULE_FIELDS, ScopeType
from accounts.api.tokens import ApiRequest
from accounts.models import AccessRule, User
from core.rest import correlation
from core.rest.api import ApiError, Count, Pages, StrictBody, Wire
from core.rest.filters import DATE, NUMBER, TEXT, Fields, Filtered, word_choices
from core.rest.rows import OptionalSort, filter_objects, sort_objects
from core.web.query import parse_number
from projects.api.grants import (
    AccessRuleIn,
    AccessRuleOut,
    RuleFields,
    ScopeIn,
    SubjectIn,
    describe_rules,
    find_rule,
    grant_role,
    revoke_rule,
    visible_rules,
)

router = Router(tags=["Access"], by_alias=True)
MOST_AT_ONCE = 100
#: Run:ai's. Trainyard has no apps.
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
    subject_type: SubjectType | Literal[""] = Field(
        default="", description="One of user, group and service-account; all if it is empty"
    )
    subject_id_filter: str = Field(default="", description="A part of the subject's name")
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
        access.require_anywhere(user, "access-rules.read")
        rows = describe_rules(visible_rules(user))
        matching = (rule for rule in rows if self._matches(rule))
        return filter_objects(matching, self, FIELDS, "subject_id", "role_name", "scope_name")

    def _matches(self, rule: AccessRuleOut) -> bool:
        return (
            self.subject_type in {"", rule.subject_type}
            and self.subject_id_filter.casefold() in rule.subject_id.casefold()
            and self.scope_type in {"", rule.scope_type}
            and self.scope_id in {"", rule.scope_id}
            and self.role_id in {None, rule.role_id}
            and (self.cluster_id is None or str(self.cluster_id) == rule.cluster_id)
        )


class RuleListing(Pages, OptionalSort, RuleNarrowing):
    pass


@router.get("/authorization/access-rules", response=AccessRuleList)
def list_access_rules(request: ApiRequest, listing: Query[RuleListing]) -> AccessRuleList:
    """Who has which role where, page by page, by scope: the rules of scopes where you may see
    them."""
    rules = listing.rules(request.user)
    page, _ = listing.cut(sort_objects(rules, listing, FIELDS))
    return AccessRuleList(total_records=len(rules), display_records=len(page), access_rules=page)


@router.get("/authorization/access-rules/count", response=Count)
def count_access_rules(request: ApiRequest, narrowing: Query[RuleNarrowing]) -> Count:
    """The number of roles that match the filters."""
    return Count(count=len(narrowing.rules(request.user)))


@router.get("/authorization/access-rules/{int:rule_id}", response=AccessRuleOut)
def get_access_rule(request: ApiRequest, rule_id: int) -> AccessRuleOut:
    """One rule, by its id."""
    access.require_anywhere(request.user, "access-rules.read")
    return _describe_rule(find_rule(rule_id, request.user))


@router.post("/authorization/access-rules", response={201: AccessRuleOut})
def create_access_rule(request: ApiRequest, body: AccessRuleIn) -> Status[AccessRuleOut]:
    """Give a role in a scope. You can give a role if you may do there all that it permits."""
    return Status(201, _describe_rule(grant_role(body, request.user)))


@router.post("/authorization/access-rules/batch-create", response=AccessRulesCreated)
def create_many_access_rules(request: ApiRequest, body: RuleMatrixIn) -> AccessRulesCreated:
    """A role for several subjects in several scopes; each succeeds or fails on its own."""
    access.require_anywhere(request.user, "access-rules.create")
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
    return AccessRulesCreated(succeeded=list(describe_rules(created_rules)), failed=failed)


@router.delete("/authorization/access-rules/{int:rule_id}", response={204: None})
def delete_access_rule(request: ApiRequest, rule_id: int) -> Status[None]:
    """Take a role away. The account always keeps an administrator: 409 for the last one."""
    access.require_anywhere(request.user, "access-rules.delete")
    revoke_rule(find_rule(rule_id, request.user), request.user)
    return Status(204, None)


@router.post(
    "/authorization/access-rules/batch",
    response=AccessRulesDeleted,
    operation_id="change_many_access_rules",
)
def batch(request: ApiRequest, body: AccessRuleBatch) -> AccessRulesDeleted:
    """Take several roles away; each succeeds or fails on its own. ``validate_delete`` changes
    nothing and only says which exist."""
    access.require_anywhere(request.user, "access-rules.delete")
    result = AccessRulesDeleted(succeeded=[], failed=[])
    for number in body.ids:
        try:
            rule = find_rule(parse_number(number) or 0, request.user)
            if body.action == "delete":
                revoke_rule(rule, request.user)
            result.succeeded.append(number)
        except ApiError as error:
            text = error.details or error.message
            result.failed.append(RuleFailure(id=number, code=error.code, message=text))
    return result


class OwnRule(RuleFields):
    """One of your roles, or of those of your groups."""


class OwnRules(Wire):
    total_records: int = Field(description="How many there are on all pages")
    display_records: int = Field(description="How many are on this page")
    access_rules: list[OwnRule] = Field(description="The roles and where they apply")


class OwnRulesAnswer(Wire):
    access_rules: OwnRules = Field(description="The roles and where they apply")


class OwnRulesNarrowing(Filtered):
    def rules(self, user: User) -> list[OwnRule]:
        rows = describe_rules(AccessRule.objects.in_force().about(user).for_list())
        mine = [OwnRule(**row.model_dump(include=set(RuleFields.model_fields))) for row in rows]
        return filter_objects(mine, self, RULE_FIELDS, "role_name", "scope_name")


class OwnRulesListing(Pages, OptionalSort, OwnRulesNarrowing):
    pass


@router.get(
    "/authorization/me/access-rules", response=OwnRulesAnswer, operation_id="list_own_access_rules"
)
def own_rules(request: ApiRequest, listing: Query[OwnRulesListing]) -> OwnRulesAnswer:
    """Your roles and those of your groups, and where you have each."""
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


def _describe_rule(rule: AccessRule) -> AccessRuleOut:
    return next(describe_rules([rule]))
