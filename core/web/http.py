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


def after(request: HtmxRequest, address: str) -> HttpResponse:
    """Redirect to ``address`` after a success, with or without htmx."""
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)
