"""``Idempotency-Key``: a POST that is sent again with the same key has no effect the second time.

The key and the answer are stored in the transaction of the change. So either both exist or neither,
even if the process is killed. Errors are not stored, because nothing was changed.
"""

import hashlib
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from accounts.models import AccessKey, KeptAnswer, User
from core.database.fields import Unreadable
from core.rest.api import DRY_RUN, ApiError, Issue, is_write, operation_of, unreadable_request

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
KEPT_FOR = timedelta(hours=24)
LONGEST = 255
LOST = ApiError(
    409,
    "This was done before, but its answer can no longer be read.",
    details=f"The key that encrypts answers is another one. Look for the object, and send another "
    f"{HEADER} only if it does not exist.",
)

Call = Callable[..., HttpResponse]


def run_once_per_key(call: Call) -> Call:
    """Wrap a ninja call so that it runs only once for each key of a user. Later requests get the
    stored answer."""
    operation = operation_of(call)
    if "POST" not in operation.methods or not is_write(operation):
        return call

    @wraps(call)
    def run_once(request: HttpRequest, *args: Any, **values: Any) -> HttpResponse:
        key = request.headers.get(HEADER)
        if key is None or request.GET.get(DRY_RUN) == "true":
            return call(request, *args, **values)
        if not (0 < len(key) <= LONGEST and key.isascii() and key.isprintable()):
            issue = Issue(field=HEADER, details=f"has 1 to {LONGEST} printable ASCII characters")
            return _error(unreadable_request([issue]))
        users = (authenticate(request) for authenticate in operation.auth_callbacks)
        user = next(filter(None, users), None)
        if user is None:
            return call(request, *args, **values)
        return _run_or_replay(user, key, request, lambda: call(request, *args, **values))

    return run_once


def _run_or_replay(
    user: User, key: str, request: HttpRequest, run: Callable[[], HttpResponse]
) -> HttpResponse:
    fingerprint = _fingerprint(request, user.acting_key)
    KeptAnswer.objects.filter(created_at__lt=timezone.now() - KEPT_FOR).delete()
    with transaction.atomic():
        try:
            # The unique constraint makes the second of two requests wait for the first, which still
            # runs. If the first fails, its row is rolled back, and the second runs.
            with transaction.atomic():
                row = KeptAnswer.objects.create(user=user, key=key, asked=fingerprint)
        except IntegrityError:
            stored = KeptAnswer.objects.defer("body").get(user=user, key=key)
            return _replay(stored, fingerprint)
        response = run()
        if response.status_code >= 400:
            transaction.set_rollback(True)
        else:
            row.status = response.status_code
            row.body = response.content.decode()
            row.save(update_fields=["status", "body"])
    return response


def _replay(stored: KeptAnswer, fingerprint: str) -> HttpResponse:
    """Return the stored answer, or an error if the key was used for another request."""
    if stored.asked != fingerprint:
        details = f"Send another {HEADER} with another request."
        return _error(
            ApiError(422, f"This {HEADER} was used for another request.", details=details)
        )
    try:
        body = stored.body
    except Unreadable:
        return _error(LOST)
    response = HttpResponse(body, status=stored.status, content_type="application/json")
    response[REPLAYED] = "true"
    return response


def _fingerprint(request: HttpRequest, access_key: AccessKey | None) -> str:
    """Return a hash of the request and of the access key that sent it. An access key must not get
    an answer that is meant for its owner, or for another key of the owner."""
    key_id = str(access_key.pk) if access_key else ""
    parts = (request.get_full_path().encode(), key_id.encode(), request.body)
    return hashlib.sha256(b"\n".join(parts)).hexdigest()


def _error(error: ApiError) -> HttpResponse:
    return JsonResponse(error.body(), status=error.code)
