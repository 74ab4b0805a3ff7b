"""What people can do with policies."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import transaction

from accounts import access
from accounts.models import User
from audit import services as audit
from policies.conflicts import find_conflicts, path_in_tree
from policies.models import Policy, PolicyVersion, dump_rules
from policies.rules import Enforcement, Rule, settle
from policies.saving import after_save, before_save, rules_read
from policies.tree import read_tree
from projects.scopes import OwningScope
from spec.kind import WorkloadKind
from spec.problems.errors import Problem, SpecError
from spec.values.variable import MASK

LONGEST_NAME = 63


def check_policy(
    tree: Any, *, scope: OwningScope, kind: WorkloadKind, name: str
) -> tuple[Rule, ...]:
    """Return the rules of a tree, as the policy of a scope would have them. ``SpecError`` has every
    problem, with its path in the tree."""
    policy = Policy(name=name, kind=kind)
    policy.set_scope(scope)
    rules, hidden = _keep_hidden_values(read_tree(tree, kind), scope, kind)
    rules = tuple(rule.with_source(policy.source) for rule in rules)
    problems = [
        *hidden,
        *_name_problems(name),
        *find_conflicts(find_wider_rules(scope, kind), rules, kind),
    ]
    rules_read.send(Policy, rules=rules, scope=scope, kind=kind, problems=problems)
    if problems:
        raise SpecError(problems)
    return rules


def save_policy(
    *,
    by: User,
    scope: OwningScope,
    kind: WorkloadKind,
    name: str,
    tree: Any,
    confirmed: bool = False,
) -> Policy:
    """Create the policy of a scope, or replace its rules, as a new version. Existing workloads stay
    as they are. ``SpecError`` has every problem; ``PermissionDenied`` names the permission.
    ``NeedsConfirmation`` if it would refuse all recent workloads and is not ``confirmed``."""
    name = name.strip()
    if not confirmed:
        _ask_before_saving(by=by, scope=scope, kind=kind, name=name, tree=tree)
    with transaction.atomic():
        rows = Policy.objects.select_for_update().of_scope(scope)
        policy = rows.filter(kind=kind).first()
        require_permission(by, scope, kind)
        rules = check_policy(tree, scope=scope, kind=kind, name=name)
        before = _audit_facts(policy) if policy else None
        if policy is None:
            policy = Policy(kind=kind, created_by=by)
            policy.set_scope(scope)
        else:
            policy.version += 1
        policy.name = name
        policy.rules_json = dump_rules(rules)
        policy.updated_by = by
        policy.save()
        PolicyVersion.objects.create(
            policy=policy, number=policy.version, rules_json=policy.rules_json, by=by
        )
        after_save.send(Policy, policy=policy)
        after = _audit_facts(policy)
        audit.record(by, "update" if before else "create", policy, before=before, after=after)
    return policy


def _ask_before_saving(
    *, by: User, scope: OwningScope, kind: WorkloadKind, name: str, tree: Any
) -> None:
    """Let packages above ask for a confirmation. They may take seconds, so this is no part of the
    transaction: SQLite has one writer."""
    require_permission(by, scope, kind)
    policy = build_policy(tree, scope=scope, kind=kind, name=name)
    before_save.send(Policy, policy=policy, by=by)


def require_permission(by: User, scope: OwningScope, kind: WorkloadKind) -> None:
    """Require the permission to create or change the policy of a scope."""
    is_stored = Policy.objects.of_scope(scope).filter(kind=kind).exists()
    action = "policies.update" if is_stored else "policies.create"
    access.require(by, action, *scope.scope_keys)


def build_policy(tree: Any, *, scope: OwningScope, kind: WorkloadKind, name: str) -> Policy:
    """Return the policy of a tree, unsaved. ``SpecError`` has every problem."""
    rules = check_policy(tree, scope=scope, kind=kind, name=name)
    policy = Policy(name=name, kind=kind, rules_json=dump_rules(rules))
    policy.set_scope(scope)
    return policy


def delete_policy(policy: Policy, *, by: User) -> None:
    """Delete a policy with its versions. Existing workloads stay as they are."""
    access.require(by, "policies.delete", *policy.owning_scope.scope_keys)
    with transaction.atomic():
        audit.record(by, "delete", policy, before=_audit_facts(policy))
        policy.delete()


def find_wider_rules(scope: OwningScope, kind: WorkloadKind) -> tuple[Rule, ...]:
    """Return the rules that hold in a scope by the policies of wider ones."""
    branch = Policy.objects.of_branch(scope).filter(kind=kind)
    wider = [policy for policy in branch.widest_first() if policy.owning_scope.key != scope.key]
    return settle(rule for policy in wider for rule in policy.rules)


def find_present_conflicts(policies: Iterable[Policy]) -> dict[UUID, list[Problem]]:
    """Return by policy where it conflicts with those of wider scopes, which may have changed since
    it was saved."""
    by_scope = {(row.kind, row.owning_scope.key): row for row in Policy.objects.widest_first()}
    conflicts: dict[UUID, list[Problem]] = {}
    for policy in policies:
        _, *wider_keys = (*policy.owning_scope.scope_keys, access.ACCOUNT)
        rows = [by_scope.get((policy.kind, key)) for key in reversed(wider_keys)]
        wider = settle(rule for row in rows if row for rule in row.rules)
        kind = WorkloadKind(policy.kind)
        conflicts[policy.pk] = list(find_conflicts(wider, policy.rules, kind))
    return conflicts


def _keep_hidden_values(
    rules: Iterable[Rule], scope: OwningScope, kind: WorkloadKind
) -> tuple[tuple[Rule, ...], list[Problem]]:
    """Return rules with the stored values of variables that answers hide, and a problem for each
    that the policy does not have."""
    stored = Policy.objects.of_scope(scope).filter(kind=kind).first()
    values = {rule.field: rule.value for rule in stored.rules} if stored else {}
    kept: list[Rule] = []
    problems: list[Problem] = []
    for rule in rules:
        if rule.enforcement is Enforcement.DEFAULT and _is_hidden(rule.value):
            value = values.get(rule.field)
            if isinstance(value, dict):
                rule = replace(rule, value=rule.value | {"value": value.get("value")})
            else:
                message = f"{MASK} stands for a hidden value; enter the value"
                problems.append(Problem(path_in_tree(rule, kind), message))
        kept.append(rule)
    return tuple(kept), problems


def _is_hidden(value: Any) -> bool:
    return isinstance(value, dict) and value.get("value") == MASK


def _name_problems(name: str) -> list[Problem]:
    if not name:
        return [Problem(("name",), "is required")]
    if len(name) > LONGEST_NAME:
        return [Problem(("name",), f"must be at most {LONGEST_NAME} characters long")]
    return []


def _audit_facts(policy: Policy) -> dict[str, Any]:
    """Return the columns and each rule by its field, so that the log shows which rules changed, and
    hides the value of a variable by its name."""
    rules = {f"{rule.field} {rule.enforcement}": rule.value for rule in policy.rules}
    return {**audit.facts(policy), "rules": rules}
