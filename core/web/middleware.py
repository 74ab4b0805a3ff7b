"""Middleware for every request: security headers, text checks, and details of HTTP for REST
calls."""

import secrets
from collections.abc import Awaitable, Iterator
from functools import cached_property
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.template.loader import render_to_string

from core.middleware import EitherMiddleware, GetResponse
from core.rest.api import API_PREFIXES, ApiError, Issue
from core.text import text_fault


class HeadersMiddleware(EitherMiddleware):
    """Sets the content security policy and cache headers.

    Browsers load only our own files, and inline scripts with this response's nonce. Inline styles
    are allowed because uPlot and Tabler set sizes through the style attribute.

    Only static files, which set their own header, may be cached: pages show data, and the next
    person at the same browser must not find it in the cache after a sign-out.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        request.csp_nonce = secrets.token_urlsafe(16)  # type: ignore[attr-defined]
        if self.is_async:
            return self.later(request)
        response = self.get_response(request)
        assert not isinstance(response, Awaitable)  # noqa: S101 -- the marker above tells
        return self.protect(request, response)

    async def later(self, request: HttpRequest) -> HttpResponseBase:
        answer = self.get_response(request)
        response = await answer if isinstance(answer, Awaitable) else answer
        return self.protect(request, response)

    @cached_property
    def form_action(self) -> str:
        """The ``form-action`` sources: this site, and the identity provider that the sign-in form
        leads to."""
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
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response


class CompressionMiddleware(EitherMiddleware):
    """Compresses pages with gzip for browsers that take it. A table of fifty workloads is a tenth
    of its size then.

    Django adds random bytes to each response, and masks the CSRF token, so that the size of a page
    gives no secret away (the BREACH attack). Streams stay as they are: an event must not wait in a
    buffer. So do REST calls, whose answers are short.
    """

    def __init__(self, get_response: GetResponse) -> None:
        super().__init__(get_response)
        self.gzip = GZipMiddleware(lambda request: HttpResponse())

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        answer = self.get_response(request)
        if request.path.startswith(API_PREFIXES):
            return answer
        if isinstance(answer, Awaitable):
            return self.compress_later(request, answer)
        return self.compress(request, answer)

    async def compress_later(
        self, request: HttpRequest, answer: Awaitable[HttpResponseBase]
    ) -> HttpResponseBase:
        return self.compress(request, await answer)

    def compress(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.streaming:
            return response
        return self.gzip.process_response(request, response)


class TextMiddleware(EitherMiddleware):
    """Refuses unfit text in paths, forms and cookies with 400. JSON is checked where it is parsed,
    by :func:`core.text.parse_json`."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        faults = dict(_faults(request))
        if not faults:
            return self.get_response(request)
        refusal = _refusal(request, faults)
        return _respond_later(refusal) if self.is_async else refusal


class ApiMiddleware(EitherMiddleware):
    """Completes ninja's HTTP: HEAD answers like GET without a body, and a method that a path does
    not have is refused in JSON, like every other error."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        answer = self.get_response
        if self.is_async or not request.path.startswith(API_PREFIXES):
            return answer(request)  # REST views are synchronous
        is_head = request.method == "HEAD"
        if is_head:
            request.method = "GET"
        response = answer(request)
        if isinstance(response, HttpResponseNotAllowed):
            text = f"This path accepts {response['Allow']}."
            body = ApiError(405, "Method not allowed.", details=text).body()
            response = JsonResponse(body, status=405, headers={"Allow": response["Allow"]})
        if is_head and isinstance(response, HttpResponse):
            length = str(len(response.content))
            response.content = b""
            response["Content-Length"] = length
        return response


async def _respond_later(response: HttpResponse) -> HttpResponse:
    return response


def _faults(request: HttpRequest) -> Iterator[tuple[str, str]]:
    """The name and fault of each unfit text in the request. ``HX-Current-URL`` is among them
    because django-htmx parses it only when a view asks, and would fail there."""
    texts = [("address", request.path)]
    is_form = request.method == "POST" and not request.path.startswith(API_PREFIXES)
    for several in (request.GET, request.POST) if is_form else (request.GET,):
        texts += [(name, text) for name, values in several.lists() for text in (name, *values)]
    texts += [("cookie", text) for pair in request.COOKIES.items() for text in pair]
    for name, text in texts:
        if fault := text_fault(text):
            yield ("name" if text_fault(name) else name), fault
    try:  # django-htmx parses this header lazily, and would fail later
        urlsplit(unquote(request.headers.get("HX-Current-URL", "")))
    except ValueError:
        yield "HX-Current-URL", "is not an address"


def _refusal(request: HttpRequest, faults: dict[str, str]) -> HttpResponse:
    details = "; ".join(f"{name} {fault}" for name, fault in faults.items())
    if not request.path.startswith(API_PREFIXES):
        return HttpResponse(render_to_string("400.html", {"details": details}), status=400)
    issues = [Issue(field=name, details=fault) for name, fault in faults.items()]
    error = ApiError(400, "The request could not be read.", details=details, issues=issues)
    return JsonResponse(error.body(), status=400)
