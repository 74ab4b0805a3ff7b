"""Answer pages and REST calls that could not save or read something: 507 if the disk is full, 503
if the database cannot be used."""

import logging
import sys

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.views.defaults import server_error

from core import storage
from core.rest.api import API_PREFIXES, ErrorBody

log = logging.getLogger(__name__)

RETRY_SECONDS = 5
OUTAGE = "The database is busy or out of reach"
OUTAGE_TEXT = (
    "Try again in a few seconds. If that does not help, the log of the web process says why."
)


def internal_error(request: HttpRequest) -> HttpResponse:
    """Django's ``handler500``. It answers errors of saving, too: they can come after the view, when
    a session is stored or a page is rendered, outside of any one middleware."""
    error = sys.exc_info()[1]
    return (error and storage_answer(request, error)) or server_error(request)


def storage_answer(request: HttpRequest, error: BaseException) -> HttpResponse | None:
    """Answer an error of the disk or the database, after logging it in one line. ``None`` if it is
    another error."""
    if storage.is_full(error):
        body = ErrorBody(code=507, message=storage.TITLE, details=storage.TEXT)
        headers = {}
    elif storage.is_outage(error):
        body = ErrorBody(code=503, message=OUTAGE, details=OUTAGE_TEXT)
        headers = {"Retry-After": str(RETRY_SECONDS)}
    else:
        return None
    log.error("%s %s: %s: %s", request.method, request.path, body.message, error)
    if request.path.startswith(API_PREFIXES):
        return JsonResponse(body.model_dump(by_alias=True), status=body.code, headers=headers)
    # Without context processors, which may need the database or the broker.
    page = render_to_string("503.html", {"title": body.message, "text": body.details})
    return HttpResponse(page, status=body.code, headers=headers)
