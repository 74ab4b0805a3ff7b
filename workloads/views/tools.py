"""CONNECT: the tools of a workload, and the way from our address to a tool's."""

from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from accounts.http import Request
from core.http import render_partial
from spec.tools import tools_of
from workloads import history
from workloads.tools import access, addresses
from workloads.tools.access import Grant
from workloads.tools.app import CODE
from workloads.views.actions import find

UNREACHABLE = (
    "Tools have addresses of their own, and your browser could not find them: name a domain for "
    "them by TOOLS_DOMAIN, with a wildcard DNS entry that leads to Trainyard."
)


@login_required
@require_safe
def tool_list(request: Request, pk: UUID) -> HttpResponse:
    workload = find(request, pk)
    rows = [
        (tool, access.why_closed(workload, tool), bool(access.find(request.user, pk, tool.slug)))
        for tool in tools_of(workload.spec)
    ]
    context = {"workload": workload, "rows": rows, "in_drawer": bool(request.htmx)}
    return render_partial(request, "workloads/connect.html", "tools", context)


@login_required
@require_safe
def tool_open(request: Request, pk: UUID, slug: str) -> HttpResponse:
    """Leads to the tool, with a word that lets this browser in there."""
    found = access.find(request.user, pk, slug)
    if found is None:
        raise Http404
    workload, tool = found
    target = addresses.address(request, pk, slug)
    problem = access.why_closed(workload, tool) or ("" if target else UNREACHABLE)
    if problem:
        context = {"workload": workload, "tool": tool, "problem": problem}
        return render(request, "workloads/closed.html", context, status=409)
    grant = Grant(request.user.pk, request.session.session_key or "", str(pk), slug)
    history.act(workload, f"Opened {tool.connection.name}.", actor=request.user, verb="connect")
    return redirect(f"{target}/?{urlencode({CODE: access.issue_code(grant)})}")
