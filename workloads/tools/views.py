"""Views behind CONNECT: the tools of a workload, and the redirects from our address to a tool's."""

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from accounts.http import Request
from assets.credential.own_values import why_kept_out
from clusters.connections import engine_for
from core.web.http import render_partial
from engines.base import EngineError
from spec.tools import UNGUARDED, Tool, external_links
from workloads.history import events
from workloads.http import find_workload
from workloads.models import Workload
from workloads.tools import access, addresses
from workloads.tools.access import Grant
from workloads.tools.app import CODE, set_cookie
from workloads.tools.headers import COOKIE, without_own_cookies

UNREACHABLE = (
    "Each tool has its own address, and your browser could not find it. Set a domain for "
    "them with TOOLS_DOMAIN, with a wildcard DNS entry that points to Trainyard."
)


@login_required
@require_safe
def tool_list(request: Request, pk: UUID) -> HttpResponse:
    """The tools of a workload: who may open each, and why one cannot be opened now."""
    workload = find_workload(request, pk)
    tools = access.tools_of_workload(workload)
    rows = [
        (
            tool,
            access.audience(workload, tool),
            access.why_closed(workload, tool),
            bool(access.find_usable_tool(request.user, pk, tool.slug)),
        )
        for tool in tools
    ]
    links = () if workload.spec_fault else external_links(workload.spec)
    guarded = any(tool.connection.connection_type not in UNGUARDED for tool in tools)
    kept_out = why_kept_out(workload, request.user) if guarded else ""
    context = {"workload": workload, "rows": rows, "links": links, "kept_out": kept_out}
    context["in_drawer"] = bool(request.htmx)
    return render_partial(request, "workloads/connect.html", "tools", context)


@login_required
@require_safe
def tool_open(request: Request, pk: UUID, slug: str) -> HttpResponse:
    """Redirect to the tool, with a code that admits this browser there."""
    found = access.find_usable_tool(request.user, pk, slug)
    if found is None:
        return _refuse_visitor(request, pk, slug)
    workload, tool = found
    target = ""
    problem = access.why_closed(workload, tool)
    if not problem:
        try:
            target = _cluster_url(workload, tool) or addresses.tool_url(request, pk, slug)
        except EngineError as error:
            problem = str(error)
    if not target:
        return _render_closed(request, workload, tool, problem or UNREACHABLE)
    _record_opening(request, workload, tool)
    if tool.connection.connection_type in UNGUARDED:
        return redirect(target)  # this tool has no use for a code
    return redirect(_add_code(request, f"{target}/", pk, slug))


@require_safe
def tool_auth(request: HttpRequest, pk: UUID, slug: str) -> HttpResponse:
    """Answer an ingress controller, which asks about each request to a tool. 200 lets the request
    through, with the cookies of the answer, which are those of the visitor without ours.

    A code in the visitor's address becomes a cookie of the tool's own host, which the controller
    passes on. After 401 the controller sends the visitor to ``tool_signin``.
    """
    if _is_foreign_websocket(request):
        return HttpResponse(status=403)
    code = _code_in_address(request)
    new_secret = access.redeem_code(code, pk, slug) if code else ""
    admitted = access.find_admitted(new_secret or request.COOKIES.get(COOKIE, ""), pk, slug)
    if admitted is None or access.why_closed(*admitted[1:]):
        return HttpResponse(status=401)
    response = HttpResponse()
    cookies = request.headers.get("Cookie", "").encode("latin-1", "replace")
    other_cookies = without_own_cookies(cookies)
    if other_cookies:
        response["Cookie"] = other_cookies.decode("latin-1")
    if new_secret:
        name, value = set_cookie(new_secret)
        response[name.decode()] = value.decode()
    return response


@login_required
@require_safe
def tool_signin(request: Request, pk: UUID, slug: str) -> HttpResponse:
    """Admit a visitor whom an ingress controller sent here. ``rd`` is the address to return to."""
    found = access.find_usable_tool(request.user, pk, slug)
    if found is None:
        return _refuse_visitor(request, pk, slug)
    workload, tool = found
    problem = access.why_closed(workload, tool)
    if problem:
        return _render_closed(request, workload, tool, problem)
    return_url = request.GET.get("rd", "")
    try:
        url = _cluster_url(workload, tool)
    except EngineError as error:
        return _render_closed(request, workload, tool, str(error))
    # The code opens the tool, so it must not be sent to any other address.
    if not url or not return_url.startswith(f"{url}/"):
        text = "This link does not point to the tool."
        return HttpResponse(text, status=400, content_type="text/plain")
    _record_opening(request, workload, tool)
    return redirect(_add_code(request, return_url, pk, slug))


def _record_opening(request: Request, workload: Workload, tool: Tool) -> None:
    events.record_action(
        workload, f"Opened {tool.connection.name}.", actor=request.user, verb="connect"
    )


def _render_closed(
    request: Request, workload: Workload, tool: Tool, problem: str, *, status: int = 409
) -> HttpResponse:
    context = {"workload": workload, "tool": tool, "problem": problem}
    return render(request, "workloads/closed.html", context, status=status)


def _refuse_visitor(request: Request, pk: UUID, slug: str) -> HttpResponse:
    """Show why the visitor may not open the tool, if they see the workload or the tool's rule lets
    them in; 404 for others."""
    permitted = access.find_permitted_tool(request.user, pk, slug)
    workload = permitted[0] if permitted else find_workload(request, pk)
    tool = next((tool for tool in access.tools_of_workload(workload) if tool.slug == slug), None)
    if tool is None:
        raise Http404
    problem = why_kept_out(workload, request.user) or (
        f"You do not have access to this tool. Access: {access.audience(workload, tool)}."
    )
    return _render_closed(request, workload, tool, problem, status=403)


def _cluster_url(workload: Workload, tool: Tool) -> str:
    return engine_for(workload.cluster).address(workload.handle, tool)


def _add_code(request: Request, target: str, pk: UUID, slug: str) -> str:
    """Return the address with a new code, which replaces an earlier one."""
    grant = Grant(request.user.pk, request.session.session_key or "", str(pk), slug)
    parts = urlsplit(target)
    pairs = [pair for pair in parts.query.split("&") if pair and not pair.startswith(f"{CODE}=")]
    pairs.append(urlencode({CODE: access.issue_code(grant)}))
    query = "&".join(pairs)
    return urlunsplit(parts._replace(query=query))


def _code_in_address(request: HttpRequest) -> str:
    """Return the code in the visitor's address, from the header of ingress-nginx or Traefik."""
    address = request.headers.get("X-Original-URL") or request.headers.get("X-Forwarded-Uri", "")
    return dict(parse_qsl(urlsplit(address).query)).get(CODE, "")


def _is_foreign_websocket(request: HttpRequest) -> bool:
    """Whether a page of another origin opens a websocket to the tool. Browsers allow that, and send
    the visitor's cookie if both are below one domain, as all tools of a cluster are."""
    if "Sec-WebSocket-Key" not in request.headers:
        return False
    original_host = urlsplit(request.headers.get("X-Original-URL", "")).netloc
    host = original_host or request.headers.get("X-Forwarded-Host", "")
    return urlsplit(request.headers.get("Origin", "")).netloc != host
