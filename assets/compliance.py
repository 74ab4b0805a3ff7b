"""Find assets that policies rule out, whatever else a workload has."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from accounts.models import User
from assets.asset import Asset
from assets.base import AssetKind
from policies.evaluation import find_violations_of_asset
from policies.fields import MASTER, WORKER
from policies.models import Policy
from policies.rules import Rule, settle
from projects.models import Project
from spec.kind import WorkloadKind
from spec.problems.errors import Problem


def find_violations(
    kind: AssetKind[Any], asset: Asset, rules: Sequence[Rule], role: str
) -> list[Problem]:
    """Return a problem for each rule that the values of an asset break in the pods of a role. There
    are none for an asset that is no longer valid, which cannot be used anyway."""
    if not rules or kind.fault_of(asset):
        return []
    values = kind.list_layer([(asset, {})]) if kind.list_key else kind.layer(asset)
    return list(find_violations_of_asset(rules, role, values))


def find_unadmitted(kind: AssetKind[Any], assets: Iterable[Asset], viewer: User) -> dict[UUID, str]:
    """Return the assets, by their id, that none of the viewer's projects may use any more, for no
    kind of workload, with the first rule that each breaks."""
    policies = Policy.objects.widest_first() if kind.is_judged else []
    if not policies:
        return {}
    places = [
        (project, workload_kind, _applying(policies, project, workload_kind))
        for project in Project.objects.visible_to(viewer)
        for workload_kind in WorkloadKind
    ]
    rules_of = {
        applying: settle(rule for policy in applying for rule in policy.rules)
        for _, _, applying in places
    }
    reasons: dict[UUID, str] = {}
    for asset in assets:
        doors = {
            (workload_kind, applying)
            for project, workload_kind, applying in places
            if asset.includes(project)
        }
        violations = [
            _first_violation(kind, asset, rules_of[applying], workload_kind)
            for workload_kind, applying in doors
        ]
        if violations and all(violations):
            problem = min((it for it in violations if it), key=str)
            field = ".".join(str(step) for step in problem.path[1:])
            reasons[asset.pk] = f"no project that you see may use it: {field} {problem.message}"
    return reasons


def _applying(
    policies: Iterable[Policy], project: Project, kind: WorkloadKind
) -> tuple[Policy, ...]:
    return tuple(policy for policy in policies if policy.kind == kind and policy.includes(project))


def _first_violation(
    kind: AssetKind[Any], asset: Asset, rules: Sequence[Rule], workload_kind: WorkloadKind
) -> Problem | None:
    """Return a rule that an asset breaks; ``None`` if pods of one role may use it."""
    violations = find_violations(kind, asset, rules, WORKER)
    if violations and workload_kind.is_gang and not find_violations(kind, asset, rules, MASTER):
        return None
    return violations[0] if violations else None
