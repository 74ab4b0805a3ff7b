"""What requests ask of an asset besides itself: what uses it, and whether it can be used."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from accounts.models import User
from assets.api.schemas import (
    AssetCompliance,
    AssetListing,
    AssetStatus,
    ComplianceReason,
    WithInfo,
)
from assets.base import AssetKind
from assets.links import users_of
from core.api import not_found
from projects.models import Project


def info_of(
    kind: AssetKind[Any], assets: list[Any], user: User, asked: WithInfo | AssetListing
) -> Mapping[UUID, dict[str, Any]]:
    """By asset, in a fixed number of queries."""
    info: dict[UUID, dict[str, Any]] = {it.pk: {} for it in assets}
    if asked.usage_info:
        for pk, users in users_of(kind.slug, info, user).items():
            info[pk]["used_by"] = users
    if asked.status_info:
        issues = kind.issues(assets, None)
        for it in assets:
            placed = it.cluster_id is not None
            info[it.pk]["status"] = AssetStatus.of(issues.get(it.pk, ""), placed=placed)
    if asked.comply_to_project is not None:
        for pk, compliance in _compliance(kind, assets, user, asked.comply_to_project).items():
            info[pk]["compliance"] = compliance
    return info


def _compliance(
    kind: AssetKind[Any], assets: list[Any], user: User, pk: int
) -> dict[UUID, AssetCompliance]:
    project = Project.objects.visible_to(user).select_related("cluster").filter(pk=pk).first()
    if project is None:
        raise not_found("The project")
    rows = kind.rows.usable_in(project).filter(pk__in=[it.pk for it in assets])
    usable = set(rows.values_list("pk", flat=True))
    issues = kind.issues(assets, project.cluster)
    return {it.pk: _judged(it.pk in usable, issues.get(it.pk, ""), project) for it in assets}


def _judged(usable: bool, issue: str, project: Project) -> AssetCompliance:
    reasons = []
    if not usable:
        details = f"its scope does not hold the project {project.name}"
        reasons.append(ComplianceReason(field="meta.scope", details=details))
    if issue:
        reasons.append(ComplianceReason(field="spec", details=issue))
    return AssetCompliance(imposed=False, compliance=not reasons, reason=reasons)
