"""What pages and REST answer while nothing can be saved: 507, in words, in this one place."""

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
#: What a reserve of the disk is kept for: signing in, and whatever ends or deletes something.
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
    """Refuses what needs space before it is begun, so that nothing is half done."""

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
    """Django's ``handler500``. Errors of saving also come while a session is stored or a page is
    written, so no middleware meets them all; this does."""
    met = meet(request, sys.exc_info()[1])
    return answer(request, met) if met else server_error(request)


def meet(request: HttpRequest, error: BaseException | None) -> StorageTrouble | None:
    """The trouble that this error means, one line of it in the log, and told to all processes."""
    met = storage.of(error)
    if met is None:
        return None
    log.error("%s %s: %s: %s", request.method, request.path, met.trouble.title, error)
    if met.trouble is not storage.BUSY and storage.on_disk() is None:
        storage.remember(met)
    if met.trouble is storage.DAMAGED:
        connection.close()  # what is put in its place is opened anew
    return met


def answer(request: HttpRequest, met: StorageTrouble) -> HttpResponse:
    status, wait = status_of(request, met), met.trouble.retry_after
    headers = {"Retry-After": str(wait)} if wait else {}
    if request.path.startswith(CALLS):
        body = ErrorBody(code=status, message=met.trouble.title, details=met.trouble.text)
        return JsonResponse(body.model_dump(by_alias=True), status=status, headers=headers)
    # No context processor, which may need the database or the broker.
    page = render_to_string("503.html", {"title": met.trouble.title, "text": met.trouble.text})
    return HttpResponse(page, status=status, headers=headers)


def status_of(request: HttpRequest, met: StorageTrouble) -> int:
    """507 where something should have been saved; a page that cannot be read, 503."""
    return 503 if request.method in SAFE or met.trouble is storage.BUSY else 507
