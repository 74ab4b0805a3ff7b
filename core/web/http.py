"""Responses of views: a full page, one part of it, or a redirect."""

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
    """Render the part for htmx, and the full page for all other requests and for boosted links."""
    is_full_page = not request.htmx or request.htmx.boosted or request.htmx.history_restore_request
    name = template if is_full_page else f"{template}#{part}"
    return render(request, name, dict(context), status=status)


def is_visit(request: HttpRequest) -> bool:
    """Whether a person opens the page. Other sites can make a browser request it with its cookies,
    as an image or in advance; browsers mark such requests, at least with HTTPS."""
    headers = request.headers
    is_shown = headers.get("Sec-Fetch-Dest", "document") == "document"
    is_ours = headers.get("Sec-Fetch-Site") == "same-origin"
    return (is_shown or is_ours) and "prefetch" not in headers.get("Sec-Purpose", "")


def redirect_after_success(request: HtmxRequest, address: str) -> HttpResponse:
    """Redirect to ``address`` after a success, with or without htmx."""
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)
