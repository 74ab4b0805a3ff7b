"""Requests of users who are signed in, and views that need a permission."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.contrib.auth.decorators import login_required
from django.http.response import HttpResponseBase

from accounts import access
from accounts.models import User
from core.web.http import HtmxRequest

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


class Request(HtmxRequest):
    """A request of a signed-in user, which ``login_required`` guarantees, with htmx's details,
    which the middleware adds."""

    user: User


def permission_required(action: str) -> Callable[[View], View]:
    """Return a decorator for views. It answers 403 to users who have this permission nowhere,
    before anything is looked up, and sends anonymous visitors to the sign-in page. The service then
    checks the permission for the one object."""

    def decorate(view: View) -> View:
        @wraps(view)
        def check_permission(request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
            access.require_anywhere(request.user, action)
            return view(request, *args, **kwargs)

        return cast(View, login_required(check_permission))

    return decorate
