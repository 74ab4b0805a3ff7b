"""The page of the policy that holds in a project."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts import access
from accounts.http import Request, permission_required
from policies.masks import mask_rules
from policies.models import Policy, find_rules
from policies.words import parameter_rows
from projects.models import Project
from spec.kind import WorkloadKind, workload_kind


@require_safe
@permission_required("policies.read")
def effective_policy(request: Request, pk: int) -> HttpResponse:
    """Show each ruled field with its default, its rules, and whose they are. ``?kind=`` is a kind
    of workload."""
    visible = Project.objects.visible_to(request.user).select_related("cluster", "department")
    project = get_object_or_404(visible, pk=pk)
    access.require(request.user, "policies.read", *project.scope_keys)
    kind = workload_kind(request.GET.get("kind", ""))
    address = reverse("project-policy", args=[pk])
    policies = Policy.objects.applying_to(project).filter(kind=kind)
    context = {
        "project": project,
        "kind": kind,
        "tabs": [(it.value, it.label, f"{address}?kind={it}") for it in WorkloadKind],
        "rows": parameter_rows(mask_rules(find_rules(project, kind)), kind),
        "policies": policies.widest_first(),
        "has_roles": kind.is_gang,
    }
    return render(request, "policies/effective.html", context)
