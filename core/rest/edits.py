"""``dryRun``, ``If-Match`` and ``ETag`` for every call that changes something.

A change can be tried without effect, concurrent changes of one object run one after the other, and
a change is refused if the object is no longer what the caller read.
"""

import hashlib
import json
from collections.abc import Callable
from copy import copy
from functools import wraps
from typing import Any, TypeVar

from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.urls import resolve

from core.rest.api import DRY_RUN, ApiError, is_write, operation_of, query_parameters_of

CHANGING_METHODS = {"PUT", "PATCH", "DELETE"}
SUBPATHS = ("/resources",)  # subpaths that belong to the object
DRY_RUN_HEADER = "Dry-Run"  # a header of the answer
#: Keys that change by themselves, so they are left out of the ETag.
VOLATILE_KEYS = (
    *("status", "phase", "checkedAt", "nodes", "allocatable", "allocated", "usedBy"),
    *("projects", "projectsGpuQuota", "warning"),
)
STALE_ERROR = ApiError(
    412,
    "This was changed since you read it.",
    details="Read it again, and send the ETag of that answer as If-Match.",
)

Run = Callable[..., HttpResponse]
#: Returns the query of the GET call that reads an object; ``None`` if a request does not name one.
FindQuery = Callable[[HttpRequest], str | None]
V = TypeVar("V", bound=Callable[..., Any])
FIND_QUERY = "find_query"  # attribute of a view whose object the query or the body names


def addressed_by(find_query: FindQuery) -> Callable[[V], V]:
    """Mark a view whose path alone does not name its object, so that ``If-Match`` finds it."""

    def mark(view: V) -> V:
        setattr(view, FIND_QUERY, find_query)
        return view

    return mark


def with_preconditions(run: Run) -> Run:
    """Wrap a ninja call with ``dryRun``, ``If-Match`` and ``ETag``, in one transaction.

    A dry run executes the call and rolls back; what is registered for after the commit does not
    happen.
    """
    operation = operation_of(run)
    tries_itself = DRY_RUN in query_parameters_of(operation)[0]
    find_query: FindQuery | None = getattr(operation.view_func, FIND_QUERY, None)
    if not is_write(operation):
        reads_one = operation.path.endswith("}") or find_query is not None
        return with_etag(run) if reads_one else run

    @wraps(run)
    def written(request: HttpRequest, *args: Any, **values: Any) -> HttpResponse:
        tries = request.GET.get(DRY_RUN) == "true" and not tries_itself
        if not (tries or request.method in CHANGING_METHODS) or not _is_signed_in(
            operation, request
        ):
            return run(request, *args, **values)
        with transaction.atomic():
            if request.method in CHANGING_METHODS:
                # Lock first, then compare: nobody can change the object in between.
                _lock_object(_object_path(request.path))
                if _is_stale(request, find_query):
                    return JsonResponse(STALE_ERROR.body(), status=STALE_ERROR.code)
            response = run(request, *args, **values)
            if tries or response.status_code >= 400:
                transaction.set_rollback(True)
        if tries:
            response[DRY_RUN_HEADER] = "true"
        elif request.method in CHANGING_METHODS:
            _add_etag(response)
        return response

    return written


def with_etag(run: Run) -> Run:
    """Wrap a call that reads one object, to add its ETag."""

    @wraps(run)
    def read(request: HttpRequest, *args: Any, **values: Any) -> HttpResponse:
        return _add_etag(run(request, *args, **values))

    return read


def _is_signed_in(operation: Any, request: HttpRequest) -> bool:
    """Checked before taking the lock: a call that would be refused must not hold up others."""
    return any(callback(request) for callback in operation.auth_callbacks)


def _lock_object(path: str) -> None:
    """Make other changes of the object wait until the transaction ends. SQLite has one writer
    anyway."""
    if connection.vendor == "postgresql":
        number = int.from_bytes(hashlib.sha256(path.encode()).digest()[:8], signed=True)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])


def _is_stale(request: HttpRequest, find_query: FindQuery | None) -> bool:
    wanted = request.headers.get("If-Match", "").strip()
    if wanted in {"", "*"}:
        return False
    query = find_query(request) if find_query else ""
    if query is None:
        return False  # the call says what is wrong with the request
    # Read the object by its own GET call, inside the transaction that has locked it.
    reading = copy(request)
    reading.method = "GET"
    reading.GET = QueryDict(query)
    match = resolve(_object_path(request.path))
    answer = match.func(reading, *match.args, **match.kwargs)
    tags = {tag.strip().removeprefix("W/") for tag in wanted.split(",")}
    # What cannot be read by its path alone (400, 405) has no ETag, so one sent for it is stale.
    return answer.status_code in {200, 400, 405} and answer.headers.get("ETag") not in tags


def _object_path(path: str) -> str:
    """The path of the whole object, if ``path`` is that of a part."""
    for part in SUBPATHS:
        path = path.removesuffix(part)
    return path


def _add_etag(response: HttpResponse) -> HttpResponse:
    is_json = response.get("Content-Type", "").startswith("application/json")
    if response.status_code == 200 and is_json and isinstance(body := _parse_body(response), dict):
        text = json.dumps(_editable_parts(body), sort_keys=True)
        response["ETag"] = f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'
    return response


def _parse_body(response: HttpResponse) -> Any:
    return json.loads(response.content)


def _editable_parts(body: dict[str, Any]) -> dict[str, Any]:
    parts = _without_volatile_keys(body)
    return {
        key: _without_volatile_keys(value) if isinstance(value, dict) else value
        for key, value in parts.items()
    }


def _without_volatile_keys(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in VOLATILE_KEYS}
