"""``Idempotency-Key``: a POST that is sent again with the same key has no effect the second time.

Key and answer are stored in the same transaction as what the request creates, so either both exist
or neither, even if the process is killed. Answers with an error are not stored, because then
nothing happened.
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
    details=f"The key that encrypts answers is another one. List what there is, and send another "
    f"{HEADER} only if it was not found.",
)

Call = Callable[..., HttpResponse]


def run_once_per_key(run: Call) -> Call:
    """Wrap a ninja call so that it runs only once for each key of a user. Later requests get the
    stored answer."""
    operation = operation_of(run)
    if "POST" not in operation.methods or not is_write(operation):
        return run

    @wraps(run)
    def done(request: HttpRequest, *args: Any, **values: Any) -> HttpResponse:
        key = request.headers.get(HEADER)
        if key is None or request.GET.get(DRY_RUN) == "true":
            return run(request, *args, **values)
        if not (0 < len(key) <= LONGEST and key.isascii() and key.isprintable()):
            issue = Issue(field=HEADER, details=f"has 1 to {LONGEST} printable ASCII characters")
            return _error(unreadable_request([issue]))
        user = next((it for call in operation.auth_callbacks if (it := call(request))), None)
        if user is None:
            return run(request, *args, **values)
        return _run_or_replay(user, key, request, lambda: run(request, *args, **values))

    return done


def _run_or_replay(
    user: User, key: str, request: HttpRequest, run: Callable[[], HttpResponse]
) -> HttpResponse:
    asked = _fingerprint(request, user.acting_key)
    KeptAnswer.objects.filter(created_at__lt=timezone.now() - KEPT_FOR).delete()
    with transaction.atomic():
        try:
            with transaction.atomic():  # waits for another request with the same key
                row = KeptAnswer.objects.create(user=user, key=key, asked=asked)
        except IntegrityError:
            return _replay(KeptAnswer.objects.defer("body").get(user=user, key=key), asked)
        response = run()
        if response.status_code >= 400:
            transaction.set_rollback(True)
        else:
            row.status = response.status_code
            row.body = response.content.decode()
            row.save(update_fields=["status", "body"])
    return response


def _replay(kept: KeptAnswer, asked: str) -> HttpResponse:
    if kept.asked != asked:
        details = f"Send another {HEADER} with another request."
        return _error(
            ApiError(422, f"This {HEADER} was used for another request.", details=details)
        )
    try:
        body = kept.body
    except Unreadable:
        return _error(LOST)
    response = HttpResponse(body, status=kept.status, content_type="application/json")
    response[REPLAYED] = "true"
    return response


def _fingerprint(request: HttpRequest, by: AccessKey | None) -> str:
    """A hash of the request and of the access key that sent it: a key must not get an answer meant
    for its owner, or for another of their keys."""
    parts = (request.get_full_path().encode(), f"{by.pk if by else ''}".encode(), request.body)
    return hashlib.sha256(b"\n".join(parts)).hexdigest()


def _error(error: ApiError) -> HttpResponse:
    return JsonResponse(error.body(), status=error.code)
