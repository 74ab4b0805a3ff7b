"""What requests can ask about an asset in addition: what uses it, and whether it can be used."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from accounts.models import User
from assets.api.schemas import (
    AssetCompliance,
    AssetListing,
    AssetStatus,
    ComplianceReason,
    ReplicaType,
    WithInfo,
)
from assets.asset import Asset
from assets.base import AssetKind
from assets.compliance import find_violations
from assets.links import holder_entries
from core.rest.api import ApiError, not_found
from policies.fields import MASTER, WORKER
from policies.filling import imposed_assets
from policies.models import find_rules
from policies.rules import Rule
from projects.models import Project
from spec.framework import Framework
from spec.kind import WorkloadKind

PROJECT_MISSING = "complyToProject: is required with complyToWorkloadType and complyToReplicaType"
NO_MASTER = "its framework has no master: all of its ranks are workers"
ONLY_DISTRIBUTED = (
    "complyToReplicaType: is for complyToWorkloadType=distributed; others have one pod"
)


def additional_info(
    kind: AssetKind[Any], assets: list[Any], user: User, query: WithInfo | AssetListing
) -> Mapping[UUID, dict[str, Any]]:
    """Return this information by asset, in a fixed number of queries."""
    info: dict[UUID, dict[str, Any]] = {asset.pk: {} for asset in assets}
    is_distributed = query.comply_to_workload_type is WorkloadKind.DISTRIBUTED
    if query.comply_to_replica_type and query.comply_to_project is not None and not is_distributed:
        raise ApiError(400, ONLY_DISTRIBUTED)
    if query.usage_info:
        for pk, users in holder_entries(kind.slug, info, user).items():
            info[pk]["used_by"] = users
    if query.status_info:
        issues = kind.issues(assets, None)
        for asset in assets:
            has_cluster = asset.cluster_id is not None
            info[asset.pk]["status"] = AssetStatus.from_issue(
                issues.get(asset.pk, ""), has_cluster=has_cluster
            )
    if query.comply_to_project is not None:
        project = _find_project(query.comply_to_project, user)
        for pk, compliance in _compliance(kind, assets, project, query).items():
            info[pk]["compliance"] = compliance
    elif query.comply_to_workload_type or query.comply_to_replica_type:
        raise ApiError(400, PROJECT_MISSING)
    return info


def _find_project(pk: int, user: User) -> Project:
    project = Project.objects.visible_to(user).select_related("cluster").filter(pk=pk).first()
    if project is None:
        raise not_found("The project")
    return project


def _compliance(
    kind: AssetKind[Any], assets: list[Any], project: Project, query: WithInfo | AssetListing
) -> dict[UUID, AssetCompliance]:
    rows = kind.rows.usable_in(project).filter(pk__in=[it.pk for it in assets])
    usable = set(rows.values_list("pk", flat=True))
    issues = kind.issues(assets, project.cluster)
    rules_of_pods = _rules_of_pods(project, query)
    imposed = {pk for role, rules in rules_of_pods for pk, _ in imposed_assets(rules, role)}
    compliance: dict[UUID, AssetCompliance] = {}
    for asset in assets:
        outside = (
            "" if asset.pk in usable else f"its scope does not hold the project {project.name}"
        )
        reasons = [
            *_reasons(outside, _unfit_reason(kind, asset, query), issues.get(asset.pk, "")),
            *_policy_reasons(kind, asset, rules_of_pods),
        ]
        compliance[asset.pk] = AssetCompliance(
            imposed=str(asset.pk) in imposed, compliance=not reasons, reason=reasons
        )
    return compliance


def _rules_of_pods(
    project: Project, query: WithInfo | AssetListing
) -> list[tuple[str, tuple[Rule, ...]]]:
    """Return the role and the rules of each kind of pod that the query is about."""
    wanted = query.comply_to_workload_type
    pods: list[tuple[str, tuple[Rule, ...]]] = []
    for kind in WorkloadKind:
        rules = find_rules(project, kind) if wanted in (None, kind) else ()
        for role in (WORKER, MASTER) if kind.is_gang else (WORKER,):
            replica_type = query.comply_to_replica_type
            if wanted in (None, kind) and (not replica_type or replica_type.lower() == role):
                pods.append((role, rules))
    return pods


def _policy_reasons(
    kind: AssetKind[Any], asset: Asset, rules_of_pods: list[tuple[str, tuple[Rule, ...]]]
) -> list[ComplianceReason]:
    """Return the rules that an asset breaks; none if the policies of any of these pods admit it."""
    if not kind.is_judged:
        return []
    violations = [find_violations(kind, asset, rules, role) for role, rules in rules_of_pods]
    if not violations or not all(violations):
        return []
    return [
        ComplianceReason(
            field=".".join(map(str, problem.path[1:])),
            details=problem.message,
            rule=problem.rule,
            source=problem.source,
        )
        for problem in violations[0]
    ]


def _unfit_reason(kind: AssetKind[Any], asset: Any, query: WithInfo | AssetListing) -> str:
    """Why no workload of a kind can use it: of a gang, whatever its framework; of its master,
    whatever its framework that has one."""
    workload = query.comply_to_workload_type
    if workload is None:
        return ""
    frameworks: Iterable[Framework | str] = Framework if workload.is_gang else [""]
    reasons = [kind.why_unfit(asset, framework) for framework in frameworks]
    if all(reasons):
        return reasons[0]
    is_for_master = query.comply_to_replica_type is ReplicaType.MASTER
    master_reasons = [
        kind.why_unfit(asset, framework) for framework in Framework if framework.traits.head
    ]
    return NO_MASTER if is_for_master and all(master_reasons) else ""


def _reasons(outside: str, unfit: str, issue: str) -> list[ComplianceReason]:
    reasons_by_field = (
        ("meta.scope", outside),
        ("meta.workloadSupportedTypes", unfit),
        ("spec", issue),
    )
    return [ComplianceReason(field=field, details=why) for field, why in reasons_by_field if why]
