"""How a view responds: with a whole page, one part of it, or a redirect."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails


class HtmxRequest(HttpRequest):
    """A request that went through django-htmx's middleware."""

    htmx: HtmxDetails


def render_partial(
    request: HtmxRequest,
    template: str,
    part: str,
    context: Mapping[str, Any],
    *,
    status: int = 200,
) -> HttpResponse:
    """The part for htmx, the whole page for everyone else (a boosted link wants the page)."""
    whole = not request.htmx or request.htmx.boosted or request.htmx.history_restore_request
    name = template if whole else f"{template}#{part}"
    return render(request, name, dict(context), status=status)


def is_visit(request: HttpRequest) -> bool:
    """Whether someone goes to the page. Other pages can have a browser ask for it as well, as an
    image or to have it ready, with its cookies. Browsers say so where a server has HTTPS."""
    headers = request.headers
    is_shown = headers.get("Sec-Fetch-Dest", "document") == "document"
    is_ours = headers.get("Sec-Fetch-Site") == "same-origin"
    return (is_shown or is_ours) and "prefetch" not in headers.get("Sec-Purpose", "")


def redirect_after_success(request: HtmxRequest, address: str) -> HttpResponse:
    """Redirect to ``address`` after a success, with or without htmx."""
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)
