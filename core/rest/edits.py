"""What holds for every call that changes something: it can be tried first, of two changes at once
the second finds the first, and one is refused that was meant for what is no longer so."""

import hashlib
import json
from collections.abc import Callable
from copy import copy
from functools import wraps
from typing import Any

from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.urls import resolve

from core.rest.api import DRY_RUN, ApiError, is_write, operation_of, query_of

CHANGES = {"PUT", "PATCH", "DELETE"}
PARTS = ("/resources",)  # of a thing, with a path of their own
TRIED = "Dry-Run"  # a header of the answer
#: What an answer tells besides what someone may edit: that changes without anyone's doing.
OBSERVED = (
    *("status", "phase", "checkedAt", "nodes", "allocatable", "allocated", "usedBy"),
    *("projects", "projectsGpuQuota", "warning"),
)
STALE = ApiError(
    412,
    "This was changed since you read it.",
    details="Read it again, and send the ETag of that answer as If-Match.",
)

Run = Callable[..., HttpResponse]


def carefully(run: Run) -> Run:
    """A call of ninja's with ``dryRun``, ``If-Match`` and ``ETag``, in one transaction.

    A dry run does all that the call does, and takes it back before anyone can see it; what is to
    happen after the commit does not.
    """
    operation = operation_of(run)
    tries_itself = DRY_RUN in query_of(operation)[0]
    if not is_write(operation):
        return tagged(run) if operation.path.endswith("}") else run

    @wraps(run)
    def written(request: HttpRequest, *args: Any, **values: Any) -> HttpResponse:
        tries = request.GET.get(DRY_RUN) == "true" and not tries_itself
        if not (tries or request.method in CHANGES) or not _is_signed_in(operation, request):
            return run(request, *args, **values)
        with transaction.atomic():
            if request.method in CHANGES:
                _hold(_whole(request.path))
                if _is_stale(request):
                    return JsonResponse(STALE.body(), status=STALE.code)
            response = run(request, *args, **values)
            if tries or response.status_code >= 400:
                transaction.set_rollback(True)
        if tries:
            response[TRIED] = "true"
        elif request.method in CHANGES:
            _tag(response)
        return response

    return written


def tagged(run: Run) -> Run:
    """Reading one thing: its ETag."""

    @wraps(run)
    def read(request: HttpRequest, *args: Any, **values: Any) -> HttpResponse:
        return _tag(run(request, *args, **values))

    return read


def _is_signed_in(operation: Any, request: HttpRequest) -> bool:
    """No one holds up others with a call that would be refused anyway."""
    return any(callback(request) for callback in operation.auth_callbacks)


def _hold(path: str) -> None:
    """Until the transaction ends no one else changes it. SQLite lets one write at a time anyway."""
    if connection.vendor == "postgresql":
        number = int.from_bytes(hashlib.sha256(path.encode()).digest()[:8], signed=True)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])


def _is_stale(request: HttpRequest) -> bool:
    wanted = request.headers.get("If-Match", "").strip()
    if wanted in {"", "*"}:
        return False
    asked = copy(request)
    asked.method, asked.GET = "GET", QueryDict()
    match = resolve(_whole(request.path))
    answer = match.func(asked, *match.args, **match.kwargs)
    tags = {tag.strip().removeprefix("W/") for tag in wanted.split(",")}
    # Of what cannot be read by itself nobody has an ETag: one that is sent is of something else.
    return answer.status_code in {200, 405} and answer.headers.get("ETag") not in tags


def _whole(path: str) -> str:
    """Of what is changed, where the path is that of a part."""
    for part in PARTS:
        path = path.removesuffix(part)
    return path


def _tag(response: HttpResponse) -> HttpResponse:
    is_json = response.get("Content-Type", "").startswith("application/json")
    if response.status_code == 200 and is_json and isinstance(body := _json(response), dict):
        text = json.dumps(_editable(body), sort_keys=True)
        response["ETag"] = f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'
    return response


def _json(response: HttpResponse) -> Any:
    return json.loads(response.content)


def _editable(body: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in body.items() if key not in OBSERVED}
    return {
        key: {name: it for name, it in value.items() if name not in OBSERVED}
        if isinstance(value, dict)
        else value
        for key, value in kept.items()
    }
