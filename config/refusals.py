"""Answer 403 on pages, and record refused attempts of pages and of REST in the audit log."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.defaults import permission_denied

from accounts.access import MissingPermission
from audit import services as audit


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page of a refusal, which says what permission is missing and who has it."""
    _record(request, exception)
    return permission_denied(request, exception)


def note_refusal(request: Any, error: BaseException | None) -> None:
    """Keep the error of a REST call for :func:`record_refusals`."""
    request.refusal = error


def record_refusals(run: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a REST view: record why it refused. It must stand outside of the transaction that is
    rolled back then."""

    @wraps(run)
    def recorded(request: HttpRequest, *args: Any, **values: Any) -> Any:
        response = run(request, *args, **values)
        _record(request, getattr(request, "refusal", None))
        return response

    return recorded


def _record(request: HttpRequest, error: BaseException | None) -> None:
    """Record who was refused what, if a permission was missing."""
    user = getattr(request, "user", None)
    if isinstance(error, MissingPermission) and user is not None and user.is_authenticated:
        audit.record_refusal(user, f"{request.method} {request.path}", error.action)
