"""The pages of findings, and the manifest that grants missing permissions."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from accounts.http import Request, permission_required
from clusters.connection_tests import is_late, rights_to_apply, signed_in_user
from clusters.kinds import addable_kind
from clusters.kinds.base import ClusterKind
from clusters.models import Cluster, ConnectionTest
from clusters.views.pages import tabs_of
from core.web.http import render_partial
from core.web.query import search_text
from engines.findings import CONNECTION, Finding, Level, refusal_of

TONES = {
    Level.OK: ("success", "OK"),
    Level.WARNING: ("warning", "Warning"),
    Level.ISSUE: ("danger", "Issue"),
    Level.MISSING: ("danger", "Missing"),
    Level.REFUSED: ("danger", "Refused"),
}


STOPS = {Level.MISSING, Level.REFUSED}  # nothing runs
BAD = STOPS | {Level.ISSUE}


def findings_context(kind: ClusterKind, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the context that shows findings. ``areas`` are pairs of a name and its rows.
    ``manifest`` is empty unless a permission is missing."""
    areas: dict[str, list[tuple[Finding, str, str]]] = {}
    for finding in findings:
        areas.setdefault(finding.area, []).append((finding, *TONES[finding.level]))
    bad_count = sum(finding.level in BAD for finding in findings)
    return {
        "areas": list(areas.items()),
        "bad": bad_count,
        "refused": refusal_of(findings),
        "issues": bad_count and not any(finding.level in STOPS for finding in findings),
        "away": bad_count and all(finding.area == CONNECTION for finding in findings),
        "warnings": sum(finding.level is Level.WARNING for finding in findings),
        "kind": kind,
        "manifest": rights_to_apply(kind, findings),
        "manifest_user": signed_in_user(findings),
    }


def test_context(test: ConnectionTest) -> dict[str, Any]:
    late = is_late(test)
    return {
        "test": test,
        "waits": test.answered_at is None and not late,
        "late": late,
        **findings_context(test.definition, test.findings),
    }


@require_safe
@permission_required("clusters.update")
def connection(request: Request, pk: UUID) -> HttpResponse:
    """Show the connection of a cluster, and the findings of its last check."""
    cluster = get_object_or_404(Cluster, pk=pk)
    context = {
        "cluster": cluster,
        "tabs": tabs_of(cluster, request.user),
        "facts": _labelled_settings(cluster),
        **findings_context(cluster.definition, cluster.findings),
    }
    return render_partial(request, "clusters/connection.html", "connection", context)


def _labelled_settings(cluster: Cluster) -> list[tuple[str, Any]]:
    """Return the settings of a cluster with the labels of its form."""
    form = cluster.definition.form
    labels = {field.key: field.label for field in form.FIELDS} if form else {}
    return [(labels[key], value) for key, value in cluster.settings_json.items() if key in labels]


@require_safe
@permission_required("clusters.update")
def manifest(request: Request) -> HttpResponse:
    """Download the manifest that grants ``user`` the permissions that Trainyard needs."""
    kind = addable_kind(search_text(request.GET, "kind"))
    if kind is None or kind.rights is None:
        raise Http404("This kind of cluster has no such manifest")
    text = kind.rights.manifest(search_text(request.GET, "user"))
    headers = {"Content-Disposition": f'attachment; filename="{kind.rights.filename}"'}
    return HttpResponse(text, content_type="application/yaml", headers=headers)
