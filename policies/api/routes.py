"""REST: policies by scope and kind of workload."""

import json
from typing import Any
from urllib.parse import urlencode

from django.db import transaction
from django.http import HttpRequest
from ninja import Query, Router, Status

from accounts.api.tokens import ApiRequest
from accounts.models import User
from core.forms import nested
from core.rest.api import ApiError, Issue, not_found, refusal_error
from core.rest.edits import addressed_by
from core.rest.filters import filter_queryset, sort_queryset
from policies import services
from policies.api.schemas import (
    FIELDS,
    EffectiveRule,
    PolicyDeletion,
    PolicyIn,
    PolicyList,
    PolicyListing,
    PolicyMeta,
    PolicyMetaIn,
    PolicyOut,
    PolicyPatch,
    PolicyPlace,
    PolicyRow,
    PolicyStatus,
    PolicyValidation,
    SourceOfRule,
    Validation,
    effective_tree,
    error_message,
)
from policies.changes import merge_trees, remove_field
from policies.effective import strictest_rules
from policies.masks import mask_rules
from policies.models import Policy
from policies.rules import settle
from policies.saving import NeedsConfirmation
from projects.api.scopes import WIRE_NAMES, shared_scope_from
from projects.scopes import OwningScope
from spec.formats.documents import Document
from spec.formats.stored import as_mapping
from spec.kind import WorkloadKind
from spec.problems.errors import Problem, SpecError

router = Router(tags=["Policies"], by_alias=True)
ROOT = "/policy"
REFUSED = "The policy cannot be saved."
HOW_TO_CONFIRM = "POST /api/v1/policies/simulate shows what it does; confirm=true saves it."
POLICY = "policy"  # the path of the tree in a request
STATUS = "status"  # what answers add to a tree
#: The parameters that name a scope, in a query and in ``meta`` of a body.
SCOPE_PARAMETERS = tuple(field.alias for field in PolicyPlace.model_fields.values() if field.alias)


@router.get(ROOT, response=PolicyList, url_name="policies")
def list_policies(request: ApiRequest, listing: Query[PolicyListing]) -> PolicyList:
    """Policies of your projects and of the scopes that contain them."""
    rows = Policy.objects.visible_to(request.user).select_related("created_by", "updated_by")
    rows = filter_queryset(rows.filter(**listing.columns), listing.filter_by, FIELDS)
    if listing.search:
        rows = rows.filter(name__icontains=listing.search)
    page, following = listing.cut(sort_queryset(rows, listing, FIELDS))
    conflicts = services.find_present_conflicts(page)
    rows_out = [_row(policy, conflicts[policy.pk]) for policy in page]
    return PolicyList(policies=rows_out, next=following)


def _add_calls(kind: WorkloadKind) -> None:
    path = f"{ROOT}/{kind.traits.path}"
    noun = f"policy of {kind.label.lower()}s"

    @router.get(
        path,
        response=PolicyOut,
        operation_id=f"read_{kind}_policy",
        url_name=f"{kind}-policy",
        summary=f"Get the {noun}",
    )
    @addressed_by(find_scope_query)
    def read(request: ApiRequest, place: Query[PolicyPlace]) -> PolicyOut:
        """The policy of a scope, and what holds there together with the policies of wider scopes.
        404 if there is none of either."""
        return _policy_out(_find_scope(place, request.user), kind, request.user)

    @router.put(
        path,
        response=PolicyOut,
        operation_id=f"overwrite_{kind}_policy",
        summary=f"Create or replace the {noun}",
    )
    @addressed_by(find_scope_query)
    def overwrite(request: ApiRequest, body: PolicyIn, query: Query[Validation]) -> PolicyOut:
        """Create the policy of a scope, or replace it as a whole. 400 lists every problem, with its
        path. Existing workloads stay as they are."""
        tree = _tree_in_body(body)
        return _save(request.user, body.meta, kind, tree, query)

    @router.patch(
        path,
        response=PolicyOut,
        operation_id=f"update_{kind}_policy",
        summary=f"Change the {noun}",
    )
    @addressed_by(find_scope_query)
    def update(request: ApiRequest, body: PolicyPatch, query: Query[Validation]) -> PolicyOut:
        """Remove the fields in ``reset`` from the policy of a scope, then merge the given values
        into it. Without a policy it creates one."""
        scope = scope_in_meta(body.meta, request.user)
        stored = Policy.objects.visible_to(request.user).of_scope(scope).filter(kind=kind).first()
        tree: Document = stored.tree if stored else {}
        issues = []
        for number, name in enumerate(body.reset or ()):
            try:
                tree = remove_field(tree, name, kind)
            except ValueError as error:
                issues.append(Issue(field=f"reset.{number}", details=str(error), rule="options"))
        if issues:
            raise refusal_error(REFUSED, issues)
        tree = merge_trees(tree, _tree_in_body(body))
        return _save(request.user, body.meta, kind, tree, query)

    @router.delete(
        path,
        response={204: None},
        operation_id=f"delete_{kind}_policy",
        summary=f"Delete the {noun}",
    )
    @addressed_by(find_scope_query)
    def delete(request: ApiRequest, place: Query[PolicyDeletion]) -> Status[None]:
        """Delete the policy of a scope. Existing workloads stay as they are."""
        scope = _find_scope(place, request.user)
        rows = Policy.objects.visible_to(request.user).of_scope(scope)
        policy = rows.filter(kind=kind).first()
        if policy is None:
            raise not_found("The policy")
        services.delete_policy(policy, by=request.user)
        return Status(204, None)


def find_scope_query(request: HttpRequest) -> str | None:
    """Return the query that reads the policy which a request names, in its own query or in
    ``meta`` of its body. ``None`` if the body cannot be read."""
    named: Document = request.GET.dict()
    if request.method in ("PUT", "PATCH"):
        try:
            named = as_mapping(nested.get(json.loads(request.body), "meta"))
        except (ValueError, RecursionError):
            return None
    if "scope" not in named:
        return None
    return urlencode(
        {name: named[name] for name in SCOPE_PARAMETERS if named.get(name) is not None}
    )


for workload_kind in WorkloadKind:
    _add_calls(workload_kind)


def _find_scope(place: PolicyPlace, user: User) -> OwningScope:
    """Return the scope that a query names. ``ApiError`` 400 without the id that it needs, 404 if
    the user may not see it."""
    scope, issues = shared_scope_from(place, user)
    if scope is not None:
        return scope
    first = issues[0]
    if first.rule != "required" and first.field == WIRE_NAMES.get(f"{place.scope}_id"):
        raise not_found(f"The {place.scope}")
    raise refusal_error("The scope cannot be found.", issues)


def scope_in_meta(meta: PolicyMetaIn, user: User) -> OwningScope:
    """Return the scope that a body names. ``ApiError`` 400 has the problems with it."""
    scope, issues = shared_scope_from(meta, user, prefix="meta.")
    if scope is None:
        raise refusal_error(REFUSED, issues)
    return scope


def _tree_in_body(body: PolicyIn) -> Document:
    """Return the tree of a request, without the status that answers have."""
    return {key: value for key, value in (body.policy or {}).items() if key != STATUS}


def _save(
    by: User, meta: PolicyMetaIn, kind: WorkloadKind, tree: Document, query: Validation
) -> PolicyOut:
    scope = scope_in_meta(meta, by)
    try:
        with transaction.atomic():
            services.save_policy(
                by=by, scope=scope, kind=kind, name=meta.name, tree=tree, confirmed=query.confirm
            )
            answer = _policy_out(scope, kind, by)
            transaction.set_rollback(query.validate_only)
    except SpecError as error:
        raise refusal_error(REFUSED, [issue_of(problem) for problem in error.problems]) from error
    except NeedsConfirmation as error:
        raise ApiError(409, str(error), details=HOW_TO_CONFIRM) from error
    return answer


def issue_of(problem: Problem) -> Issue:
    """Return a problem of a policy with its path in the body."""
    prefix = "meta" if problem.path == ("name",) else POLICY
    field = ".".join(map(str, (prefix, *problem.path)))
    return Issue(field=field, details=problem.message, rule=problem.rule)


def _policy_out(scope: OwningScope, kind: WorkloadKind, user: User) -> PolicyOut:
    branch = Policy.objects.visible_to(user).of_branch(scope).filter(kind=kind)
    policies = branch.select_related("created_by", "updated_by").widest_first()
    if not policies:
        raise not_found("The policy")
    own = next((policy for policy in policies if policy.owning_scope.key == scope.key), None)
    rules = mask_rules(settle(rule for policy in policies for rule in policy.rules))
    sources = {policy.owning_scope.key: SourceOfRule.of(policy) for policy in policies}
    effective = effective_tree(strictest_rules(rules), kind, sources)
    return PolicyOut(
        meta=PolicyMeta.of(own) if own else None,
        policy=_own_tree(own) if own else None,
        effective=effective,
        effective_updated_at=max(policy.updated_at for policy in policies),
        effective_rules=[
            EffectiveRule(
                field=rule.field,
                enforcement=rule.enforcement,
                value=rule.value,
                allow_override=rule.may_override,
                why=rule.why,
                source_of_rule=sources[rule.source.scope],
            )
            for rule in rules
        ],
    )


def _own_tree(policy: Policy) -> dict[str, Any]:
    conflicts = services.find_present_conflicts([policy])[policy.pk]
    validation = PolicyValidation(error_message=error_message(conflicts))
    return {**policy.tree, STATUS: {"validation": validation.model_dump(by_alias=True)}}


def _row(policy: Policy, conflicts: list[Problem]) -> PolicyRow:
    validation = PolicyValidation(error_message=error_message(conflicts))
    return PolicyRow(
        type=WorkloadKind(policy.kind),
        meta=PolicyMeta.of(policy),
        status=PolicyStatus(validation=validation),
    )
