"""The REST API, put together. Each package has its router; errors get one shape here."""

import logging
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from accounts.api import Bearer
from accounts.api import router as accounts
from clusters.api import router as clusters
from clusters.nodeapi import router as nodes
from core.api import ApiError, Issue
from projects.api import router as projects
from projects.departmentapi import router as departments
from spec.errors import WORDS
from workloads.api.batch import router as batches
from workloads.api.distributed import router as distributed
from workloads.api.listing import router as workloads

log = logging.getLogger(__name__)

api = NinjaAPI(
    title="Trainyard",
    version="1.0.0",
    description="Submit, watch and steer distributed training. Paths and JSON are Run:ai's.",
    docs_url=None,  # ninja's page loads its scripts from elsewhere
    openapi_url="/openapi.json",
    auth=Bearer(),
    urls_namespace="api",
)
api.add_router("", accounts)
api.add_router("", clusters)
api.add_router("", nodes)
api.add_router("", departments)
api.add_router("", projects)
api.add_router("/workloads", batches)
api.add_router("/workloads", distributed)
api.add_router("/workloads", workloads)


def _answer(request: HttpRequest, error: ApiError) -> HttpResponse:
    return api.create_response(request, error.body(), status=error.code)


@api.exception_handler(ApiError)
def _ours(request: HttpRequest, error: ApiError) -> HttpResponse:
    return _answer(request, error)


@api.exception_handler(AuthenticationError)
def _unauthorized(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    details = "Send Authorization: Bearer <token>; get one from POST /api/v1/token."
    return _answer(request, ApiError(401, "A valid token is needed.", details=details))


@api.exception_handler(ValidationError)
def _invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    issues = [_issue(item) for item in error.errors]
    return _answer(request, ApiError(400, "The request cannot be read.", issues=issues))


def _issue(item: dict[str, Any]) -> Issue:
    # ninja puts where the value stood (body, query, path) and mostly the argument's name first
    steps = [str(step) for step in item["loc"][1:]]
    field = ".".join(steps[1:] or steps)
    return Issue(field=field, details=WORDS.get(item["type"], item["msg"]))


@api.exception_handler(RequestDataTooBig)
def _too_large(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
    most = f"{settings.DATA_UPLOAD_MAX_MEMORY_SIZE / 1024**2:g} MiB"
    details = f"A request has at most {most}; send a batch in several."
    return _answer(request, ApiError(413, "The request is too large.", details=details))


@api.exception_handler(Http404)
def _missing(request: HttpRequest, error: Http404) -> HttpResponse:
    return _answer(request, ApiError(404, "This does not exist, or you may not see it."))


@api.exception_handler(HttpError)
def _http(request: HttpRequest, error: HttpError) -> HttpResponse:
    message = str(error) or HTTPStatus(error.status_code).phrase
    return _answer(request, ApiError(error.status_code, message))


@api.exception_handler(Exception)
def _broken(request: HttpRequest, error: Exception) -> HttpResponse:
    """Our own mistake: the whole of it goes to the log, none of it to the caller."""
    log.error("%s %s failed", request.method, request.path, exc_info=error)
    details = "It is in the log of the web process. Nothing says that the call had no effect."
    return _answer(request, ApiError(500, "Trainyard made a mistake.", details=details))


def nowhere(request: HttpRequest, rest: str) -> HttpResponse:
    """Addresses that the API does not have: callers of the API read JSON, never a page."""
    details = "GET /api/v1/openapi.json lists every address."
    return _answer(request, ApiError(404, "There is no such address.", details=details))
