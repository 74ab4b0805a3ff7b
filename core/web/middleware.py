"""What holds for every request and every answer: headers, and texts that nothing could keep."""

import secrets
from collections.abc import Awaitable, Callable, Iterator
from functools import cached_property
from urllib.parse import unquote, urlsplit

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string

from core.rest.api import CALLS, ApiError, Issue
from core.text import fault_of

Next = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


class HeadersMiddleware:
    """What browsers may load and keep.

    They load only our own files, and the inline scripts that carry this response's nonce. Inline
    styles stay allowed for uPlot and Tabler, which set sizes through the style attribute.

    They keep static files, which say so themselves, and nothing else: behind a page there is data,
    and whoever sits down at the same browser after a sign-out must not find it in its cache.
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
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response


class TextMiddleware:
    """Refuse what no text may hold in an address, a form or a cookie. JSON is judged where it is
    read, by ``core.text.loads``."""

    sync_capable = async_capable = True

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        faults = dict(_faults(request))
        if not faults:
            return self.get_response(request)
        refusal = _refusal(request, faults)
        return _later(refusal) if iscoroutinefunction(self) else refusal


class ApiMiddleware:
    """What ninja leaves to whoever stands around it: HEAD is GET without its body, and a method
    that an address does not have is refused in JSON, as all else is."""

    sync_capable = async_capable = True

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        answer = self.get_response
        if iscoroutinefunction(self) or not request.path.startswith(CALLS):
            return answer(request)  # no call of the API is a coroutine
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


async def _later(response: HttpResponse) -> HttpResponse:
    return response


def _faults(request: HttpRequest) -> Iterator[tuple[str, str]]:
    """Name and fault of each text that is unfit."""
    texts = [("address", request.path)]
    is_form = request.method == "POST" and not request.path.startswith(CALLS)
    for several in (request.GET, request.POST) if is_form else (request.GET,):
        texts += [(name, text) for name, values in several.lists() for text in (name, *values)]
    texts += [("cookie", text) for pair in request.COOKIES.items() for text in pair]
    for name, text in texts:
        if fault := fault_of(text):
            yield ("name" if fault_of(name) else name), fault
    try:  # what htmx says the page's address is, which is taken apart where it is asked for
        urlsplit(unquote(request.headers.get("HX-Current-URL", "")))
    except ValueError:
        yield "HX-Current-URL", "is not an address"


def _refusal(request: HttpRequest, faults: dict[str, str]) -> HttpResponse:
    details = "; ".join(f"{name} {fault}" for name, fault in faults.items())
    if not request.path.startswith(CALLS):
        return HttpResponse(render_to_string("400.html", {"details": details}), status=400)
    issues = [Issue(field=name, details=fault) for name, fault in faults.items()]
    error = ApiError(400, "The request could not be read.", details=details, issues=issues)
    return JsonResponse(error.body(), status=400)
