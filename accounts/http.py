"""Requests of users who are signed in, and views that need a permission."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http.response import HttpResponseBase

from accounts import access
from accounts.models import User
from core.web.http import HtmxRequest

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


class Request(HtmxRequest):
    """A request as ``login_required`` and our middleware guarantee it: with a user and htmx's
    details."""

    user: User


def permission_required(action: str) -> Callable[[View], View]:
    """Answer 403 to users who have this permission nowhere, before anything is looked up, and send
    strangers to the sign-in page. Whether a user has it for one object is checked by the service.
    """

    def guard(view: View) -> View:
        @wraps(view)
        def checked(request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not access.may_anywhere(request.user, action):
                raise PermissionDenied(access.missing_permission_text(action, request.user))
            return view(request, *args, **kwargs)

        return cast(View, login_required(checked))

    return guard
