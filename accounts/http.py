"""A request of someone who signed in, and views that need a permission."""

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
    """What ``login_required`` and our middleware guarantee: a user and htmx's details."""

    user: User


def permission_required(action: str) -> Callable[[View], View]:
    """Who may do this nowhere gets 403 before anything is looked up, strangers the sign-in page.
    Whether they may do it here is the verb's question."""

    def guard(view: View) -> View:
        @wraps(view)
        def checked(request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not access.anywhere(request.user, action):
                raise PermissionDenied(access.missing(action, request.user))
            return view(request, *args, **kwargs)

        return cast(View, login_required(checked))

    return guard
