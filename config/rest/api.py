"""Assembles the REST API. Each package has its router; errors get one shape here."""

import logging
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.parser import Parser

from accounts.api.audit_log import router as audit_log
from accounts.api.general import router as general_settings
from accounts.api.idempotency import run_once_per_key
from accounts.api.keys import router as access_keys
from accounts.api.roles import router as roles
from accounts.api.service_accounts import router as service_accounts
from accounts.api.sign_in import router as sign_in
from accounts.api.tokens import Bearer
from accounts.api.tokens import router as accounts
from accounts.api.users import router as users
from accounts.devices.api import router as devices
from assets.api.datasets import router as datasets
from assets.api.routes import asset_router as asset_router_of
from assets.kinds import KINDS
from clusters.api.clusters import router as clusters
from clusters.api.nodes import router as nodes
from clusters.api.pools import router as node_pools
from clusters.api.storage import router as storage_classes
from clusters.api.telemetry import router as node_telemetry
from config.refusals import note_refusal, record_refusals
from config.rest.about import API_VERSION
from config.rest.about import router as about
from config.rest.description import DescribedApi
from config.rest.storage_errors import storage_answer
from config.rest.unsupported import find_reason
from core.rest.api import (
    ApiError,
    Issue,
    note_unknown_parameters,
    refuse_unknown_parameters,
    unknown_parameters_of,
    unreadable_request,
)
from core.rest.edits import with_preconditions
from core.text import UnfitJson, parse_json
from notifications.channels.api import router as notification_channels
from notifications.people.api import router as people_notifications
from notifications.webhooks.api import router as webhooks
from policies.api.routes import router as policies
from projects.api.access_rules import router as access_rules
from projects.api.departments import router as departments
from projects.api.me import router as me
from projects.api.priorities import router as priorities
from projects.api.projects import router as projects
from projects.api.queues import router as project_queues
from projects.api.telemetry import router as org_telemetry
from spec.kind import WorkloadKind
from spec.problems.errors import problem_from_pydantic
from workflows.api.osmo import router as osmo
from workflows.api.pools import router as pools
from workflows.api.routes import router as workflows
from workloads.api.allocation import router as allocation
from workloads.api.reads.expanded import router as expanded
from workloads.api.reads.listing import router as workloads
from workloads.api.reads.logs import router as logs
from workloads.api.reads.measures import router as measures
from workloads.api.reads.pods import router as pods
from workloads.api.reads.watch import router as watch
from workloads.api.submissions.batch import router as batches
from workloads.api.submissions.distributed import router as distributed
from workloads.api.submissions.manifests import router as manifest_workloads
from workloads.api.submissions.one_pod import router_of
from workloads.api.submissions.sbatch import router as batch_scripts
from workloads.api.template.routes import router as templates
from workloads.api.types import router as workload_types
from workloads.api.usage import router as usage
from workloads.policies.api import router as policy_simulation
from workloads.queue.api import router as decisions

log = logging.getLogger(__name__)


class Json(Parser):
    """Parses request bodies, and refuses JSON that no field of ours can hold."""

    def parse_body(self, request: HttpRequest) -> Any:
        return parse_json(request.body)


api = DescribedApi(
    title="Trainyard",
    version=API_VERSION,
    description="Submit, monitor and control distributed training. Paths and JSON are Run:ai's.",
    docs_url=None,  # ninja's page loads scripts from other servers
    openapi_url="/openapi.json",
    auth=Bearer(),
    urls_namespace="api",
    parser=Json(),
)
# The last one is outermost, so the token is checked before the idempotency key.
api.add_decorator(note_unknown_parameters, mode="view")
api.add_decorator(with_preconditions, mode="view")
api.add_decorator(run_once_per_key, mode="view")
api.add_decorator(record_refusals, mode="view")
api.add_decorator(refuse_unknown_parameters)
# Addresses are tried in this order, and most calls are about workloads.
api.add_router("/workloads", batches)
api.add_router("/workloads", batch_scripts)
api.add_router("/workloads", manifest_workloads)
api.add_router("/workloads", distributed)
for kind in WorkloadKind:
    if not kind.is_gang:
        api.add_router("/workloads", router_of(kind))
api.add_router("/workloads", workloads)
api.add_router("/workloads", expanded)
api.add_router("/workloads", logs)
api.add_router("/workloads", watch)
api.add_router("/workloads", measures)
api.add_router("/workloads", pods)
api.add_router("", accounts)
api.add_router("", me)
api.add_router("", clusters)
api.add_router("", nodes)
api.add_router("", node_pools)
api.add_router("", node_telemetry)
api.add_router("", storage_classes)
api.add_router("", decisions)
api.add_router("", departments)
api.add_router("", projects)
api.add_router("", project_queues)
api.add_router("", org_telemetry)
api.add_router("", priorities)
api.add_router("", access_keys)
api.add_router("", devices)
api.add_router("", users)
api.add_router("", roles)
api.add_router("", service_accounts)
api.add_router("", access_rules)
api.add_router("", audit_log)
api.add_router("", general_settings)
api.add_router("", sign_in)
api.add_router("", about)
api.add_router("", webhooks)
api.add_router("", policies)
api.add_router("", workflows)
api.add_router("", osmo)
api.add_router("", pools)
api.add_router("", policy_simulation)
api.add_router("", notification_channels)
api.add_router("", people_notifications)
for asset_kind in KINDS.values():
    api.add_router("", asset_router_of(asset_kind))
api.add_router("", datasets)
api.add_router("/workload-templates", templates)
api.add_router("", workload_types)
api.add_router("", allocation)
api.add_router("", usage)


def _respond(request: HttpRequest, error: ApiError) -> HttpResponse:
    response = api.create_response(request, error.body(), status=error.code)
    if error.retry_after:
        response["Retry-After"] = str(error.retry_after)
    return response


@api.exception_handler(ApiError)
def _answer_api_error(request: HttpRequest, error: ApiError) -> HttpResponse:
    note_refusal(request, error.__cause__)
    return _respond(request, error)


@api.exception_handler(AuthenticationError)
def _answer_unauthorized(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    details = "Send Authorization: Bearer <token>; get one from POST /api/v1/token."
    response = _respond(request, ApiError(401, "A valid token is needed.", details=details))
    response["WWW-Authenticate"] = "Bearer"
    return response


@api.exception_handler(ValidationError)
def _answer_invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    issues = [_issue(item) for item in error.errors]
    return _respond(request, unreadable_request([*unknown_parameters_of(request), *issues]))


def _issue(item: dict[str, Any]) -> Issue:
    # ninja puts the value's source (body, query, path) first, and mostly the argument's name next
    steps = [str(step) for step in item["loc"][1:]]
    field = ".".join(steps[1:] or steps)
    problem = problem_from_pydantic(item["type"], (), item["msg"], item.get("ctx") or {})
    inner = ".".join(filter(None, (field, problem.field)))
    return Issue(field=inner, details=problem.message, rule=problem.rule)


@api.exception_handler(Http404)
def _answer_missing(request: HttpRequest, error: Http404) -> HttpResponse:
    return _respond(request, ApiError(404, "This does not exist, or you do not have access to it."))


@api.exception_handler(PermissionDenied)
def _answer_refused(request: HttpRequest, error: PermissionDenied) -> HttpResponse:
    note_refusal(request, error)
    return _respond(request, ApiError(403, str(error)))


@api.exception_handler(HttpError)
def _answer_http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    unfit = error.__cause__
    if isinstance(unfit, UnfitJson):  # ninja wraps it in its own error
        faults = [(".".join(map(str, path)) or "body", text) for path, text in unfit.faults]
        issues = [Issue(field=field, details=text) for field, text in faults]
        return _respond(request, unreadable_request([*unknown_parameters_of(request), *issues]))
    message = str(error) or HTTPStatus(error.status_code).phrase
    return _respond(request, ApiError(error.status_code, message))


@api.exception_handler(Exception)
def _answer_unexpected(request: HttpRequest, error: Exception) -> HttpResponse:
    """Answer an unexpected error. The log gets its details, and the caller gets none."""
    if answer := storage_answer(request, error):
        return answer
    log.error("%s %s failed", request.method, request.path, exc_info=error)
    details = "The log of the web process says why. The call may have taken effect."
    return _respond(request, ApiError(500, "Something went wrong in Trainyard.", details=details))


def answer_unknown_path(request: HttpRequest, rest: str) -> HttpResponse:
    """Answer unknown URLs below ``/api/`` in JSON, because callers never expect a page."""
    below = request.path.partition("/api/")[2] or f"v1/{rest}"
    if why := find_reason(below.strip("/")):
        return _respond(request, ApiError(501, "Trainyard does not have this.", details=why))
    details = "GET /api/v1/openapi.json lists all paths."
    return _respond(request, ApiError(404, "Path not found.", details=details))
