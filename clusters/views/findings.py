"""Findings as pages show them, and the manifest that grants what is refused."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from accounts.http import Request, administrators_only
from clusters.models import Cluster, ConnectionTest, Kind
from clusters.testing import is_late, rights_to_apply, user_of
from clusters.views.pages import tabs_of
from core.http import render_partial
from core.query import search_text
from engines.base import Finding, Level
from engines.kubernetes import rights
from engines.kubernetes.checking import CONNECTION

TONES = {
    Level.OK: ("success", "OK"),
    Level.WARNING: ("warning", "Warning"),
    Level.ISSUE: ("danger", "Issue"),
    Level.MISSING: ("danger", "Missing"),
}


def findings_context(found: Iterable[Finding]) -> dict[str, Any]:
    """``areas`` are pairs of a name and rows; ``manifest`` is there when a right is refused."""
    findings = list(found)
    areas: dict[str, list[tuple[Finding, str, str]]] = {}
    for finding in findings:
        areas.setdefault(finding.area, []).append((finding, *TONES[finding.level]))
    bad = sum(f.level in {Level.MISSING, Level.ISSUE} for f in findings)
    return {
        "areas": list(areas.items()),
        "bad": bad,
        "away": bad and all(found.area == CONNECTION for found in findings),
        "warnings": sum(f.level is Level.WARNING for f in findings),
        "manifest": rights_to_apply(findings),
        "manifest_user": user_of(findings),
    }


def shown_test(test: ConnectionTest) -> dict[str, Any]:
    late = is_late(test)
    return {
        "test": test,
        "waits": test.answered_at is None and not late,
        "late": late,
        **findings_context(test.findings),
    }


@require_safe
@administrators_only
def connection(request: Request, pk: UUID) -> HttpResponse:
    """How the cluster is reached, and what it lacked when it was last looked at."""
    cluster = get_object_or_404(Cluster, pk=pk)
    facts = (
        ("Namespace prefix", cluster.namespace_prefix),
        ("Domain of tools", cluster.ingress_domain),
        ("Ingress class", cluster.ingress_class),
        ("Prometheus URL", cluster.prometheus_url),
    )
    context = {
        "cluster": cluster,
        "tabs": tabs_of(cluster, request.user),
        "facts": facts if cluster.kind == Kind.KUBERNETES else (),
        **findings_context(cluster.findings),
    }
    return render_partial(request, "clusters/connection.html", "connection", context)


@require_safe
@administrators_only
def manifest(request: Request) -> HttpResponse:
    """The rights that Trainyard needs, as YAML to apply; ``user`` is who gets them."""
    text = rights.manifest(search_text(request.GET, "user"))
    headers = {"Content-Disposition": 'attachment; filename="trainyard-rights.yaml"'}
    return HttpResponse(text, content_type="application/yaml", headers=headers)
