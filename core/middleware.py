"""Headers that hold for every page."""

import secrets
from collections.abc import Awaitable, Callable
from functools import cached_property
from urllib.parse import urlsplit

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

Next = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


class ContentSecurityPolicyMiddleware:
    """Allow only our own files, and the inline scripts that carry this response's nonce.

    Inline styles stay allowed for uPlot and Tabler, which set sizes through the style attribute.
    """

    sync_capable = async_capable = True

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        request.csp_nonce = secrets.token_urlsafe(16)  # type: ignore[attr-defined]
        if self.is_async:
            return self.later(request)
        response = self.get_response(request)
        assert not isinstance(response, Awaitable)  # noqa: S101 -- told apart by the marker above
        return self.protect(request, response)

    async def later(self, request: HttpRequest) -> HttpResponseBase:
        answer = self.get_response(request)
        response = await answer if isinstance(answer, Awaitable) else answer
        return self.protect(request, response)

    @cached_property
    def form_action(self) -> str:
        """Where forms may lead: here, and through the sign-in form to an identity provider."""
        provider = urlsplit(settings.OIDC_URL)
        return f"'self' {provider.scheme}://{provider.netloc}" if provider.netloc else "'self'"

    def protect(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        nonce = request.csp_nonce  # type: ignore[attr-defined]
        response.headers.setdefault(
            "Content-Security-Policy",
            f"default-src 'self'; script-src 'self' 'nonce-{nonce}'; img-src 'self' data:; "
            "style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; "
            f"form-action {self.form_action}; frame-ancestors 'none'",
        )
        return response
