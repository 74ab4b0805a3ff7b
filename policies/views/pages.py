"""The pages of policies: the list, a policy with its versions, and its deletion."""

from dataclasses import dataclass
from uuid import UUID

from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import Request, permission_required
from core.differences import Lines, diff_lines
from core.web.http import render_partial
from core.web.pages import deletion_page
from core.web.query import search_text
from policies import services
from policies.models import Policy, PolicyVersion
from policies.words import rule_rows
from spec.formats import documents
from spec.kind import WorkloadKind

POLICIES_A_PAGE = 50
RELATED = ("cluster", "department__cluster", "project__cluster", "updated_by")


@dataclass(frozen=True)
class VersionChange:
    """A version of a policy with the lines of its YAML that differ from the one before."""

    version: PolicyVersion
    lines: Lines
    is_current: bool


@require_safe
@permission_required("policies.read")
def listing(request: Request) -> HttpResponse:
    text = search_text(request.GET)
    policies = Policy.objects.visible_to(request.user).select_related(*RELATED)
    if text:
        policies = policies.filter(
            Q(name__icontains=text)
            | Q(cluster__name__icontains=text)
            | Q(department__name__icontains=text)
            | Q(project__name__icontains=text)
        )
    page = Paginator(policies, POLICIES_A_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "q": text}
    return render_partial(request, "policies/policies.html", "rows", context)


@require_safe
@permission_required("policies.read")
def detail(request: Request, pk: UUID) -> HttpResponse:
    policy = _find_policy(request, pk)
    kind = WorkloadKind(policy.kind)
    context = {
        "policy": policy,
        "rows": rule_rows(policy.masked_rules, kind),
        "has_roles": kind.is_gang,
        "text": documents.to_yaml(policy.tree),
        "changes": _changes(policy),
    }
    return render(request, "policies/policy.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@permission_required("policies.delete")
def delete(request: Request, pk: UUID) -> HttpResponse:
    policy = _find_policy(request, pk)
    return deletion_page(
        request,
        policy,
        "policy",
        lambda: services.delete_policy(policy, by=request.user),
        text="Its rules no longer apply to new workloads. Existing workloads stay as they are.",
        crumb=("Policies", reverse("policy-list")),
        back=policy.get_absolute_url(),
    )


def _find_policy(request: Request, pk: UUID) -> Policy:
    visible = Policy.objects.visible_to(request.user).select_related(*RELATED)
    return get_object_or_404(visible, pk=pk)


def _changes(policy: Policy) -> list[VersionChange]:
    """Return the versions of a policy, the newest first, each with its changes."""
    versions = list(policy.versions.select_related("by", "policy"))
    texts = [documents.to_yaml(version.tree).splitlines() for version in versions]
    return [
        VersionChange(
            version,
            diff_lines(before, after) if before else (),
            is_current=version.number == policy.version,
        )
        for version, after, before in zip(versions, texts, [*texts[1:], []], strict=True)
    ]
