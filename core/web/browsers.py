"""Middleware for pages only. REST calls skip it: they carry a token instead of a session, and read
JSON."""

from collections.abc import Awaitable, Callable
from typing import cast
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages import get_messages
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import resolve_url
from django_htmx.http import HttpResponseClientRedirect, trigger_client_event
from django_htmx.middleware import HtmxMiddleware

from core.rest.api import API_PREFIXES
from core.web.http import HtmxRequest

GetPage = Callable[[HttpRequest], HttpResponseBase]


class PagesOnly:
    """Mixin for a middleware: REST calls bypass it."""

    get_response: Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if request.path.startswith(API_PREFIXES):
            return self.get_response(request)
        answer: HttpResponseBase | Awaitable[HttpResponseBase]
        answer = super().__call__(request)  # type: ignore[misc]  # of the middleware it is mixed into
        return answer


class PageSessionMiddleware(PagesOnly, SessionMiddleware):
    pass


class PageAuthenticationMiddleware(PagesOnly, AuthenticationMiddleware):
    pass


class PageMessageMiddleware(PagesOnly, MessageMiddleware):
    pass


class PageHtmxMiddleware(PagesOnly, HtmxMiddleware):  # type: ignore[misc]
    pass


class HtmxResponseMiddleware:
    """Adapts responses to htmx: messages become toasts, and a redirect to the sign-in page leaves
    the whole page instead of swapping the sign-in form into a fragment."""

    def __init__(self, get_response: GetPage) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        htmx = cast(HtmxRequest, request).htmx
        if not htmx or htmx.boosted or not isinstance(response, HttpResponse):
            return response
        sign_in = resolve_url(settings.LOGIN_URL)
        if response.status_code == 302 and urlsplit(response["Location"]).path == sign_in:
            back = urlencode({"next": htmx.current_url_abs_path or "/"})
            return HttpResponseClientRedirect(f"{sign_in}?{back}")
        leaves = any(name in response for name in ("HX-Redirect", "HX-Refresh", "Location"))
        # Reading the messages removes them, so they wait for the next page if this one is left.
        messages = [] if leaves else list(get_messages(request))
        if messages:
            toasts = [{"text": str(m.message), "tone": m.level_tag} for m in messages]
            trigger_client_event(response, "toasts", {"shown": toasts})
        return response


class PageHtmxResponseMiddleware(PagesOnly, HtmxResponseMiddleware):  # type: ignore[misc]
    pass
