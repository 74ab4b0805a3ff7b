"""Answer pages and REST calls with 507 and an explanation while nothing can be saved, for example
because the disk is full."""

import logging
import sys
from collections.abc import Callable
from typing import Any

from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.views.defaults import server_error

from core import storage
from core.rest.api import CALLS, ErrorBody
from core.storage import StorageTrouble

log = logging.getLogger(__name__)

SAFE = {"GET", "HEAD", "OPTIONS"}
#: Views that may use the reserve of the disk: those that sign in, and that end or delete
#: something.
MAKES_ROOM = {
    "account_login",
    "account_logout",
    "api:create_token",
    "oauth-token",
    "api:suspend",
    "api:batch",
    "workload-stop",
    "workload-delete",
    "workload-bulk",
    "workload-purge",
    "draft-discard",
}


class StorageMiddleware:
    """Refuses requests that need space before they begin, so that nothing is left half done."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, kwargs: Any
    ) -> HttpResponse | None:
        if request.method in SAFE or request.method == "DELETE":
            return None
        name = request.resolver_match.view_name if request.resolver_match else ""
        if name in MAKES_ROOM or name.endswith("-delete"):
            return None
        met = storage.current()
        return answer(request, met) if met else None


def broken(request: HttpRequest) -> HttpResponse:
    """Django's ``handler500``. It also answers errors of saving, because these can come after the
    view, when a session is stored or a page is rendered, outside of any one middleware."""
    met = meet(request, sys.exc_info()[1])
    return answer(request, met) if met else server_error(request)


def meet(request: HttpRequest, error: BaseException | None) -> StorageTrouble | None:
    """The storage trouble behind an error, if any. Logs it in one line and announces it to all
    processes."""
    met = storage.of(error)
    if met is None:
        return None
    log.error("%s %s: %s: %s", request.method, request.path, met.trouble.title, error)
    if met.trouble is not storage.BUSY and storage.on_disk() is None:
        storage.remember(met)
    if met.trouble is storage.DAMAGED:
        connection.close()  # so that a database that replaces it is opened
    return met


def answer(request: HttpRequest, met: StorageTrouble) -> HttpResponse:
    status, wait = status_of(request, met), met.trouble.retry_after
    headers = {"Retry-After": str(wait)} if wait else {}
    if request.path.startswith(CALLS):
        body = ErrorBody(code=status, message=met.trouble.title, details=met.trouble.text)
        return JsonResponse(body.model_dump(by_alias=True), status=status, headers=headers)
    # Without context processors, which may need the database or the broker.
    page = render_to_string("503.html", {"title": met.trouble.title, "text": met.trouble.text})
    return HttpResponse(page, status=status, headers=headers)


def status_of(request: HttpRequest, met: StorageTrouble) -> int:
    """507 if something should have been saved, 503 for a page that cannot be read."""
    return 503 if request.method in SAFE or met.trouble is storage.BUSY else 507
