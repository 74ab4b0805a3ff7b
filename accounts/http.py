"""A request of someone who signed in, and views for administrators."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http.response import HttpResponseBase

from accounts.models import User
from core.http import HtmxRequest

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


class Request(HtmxRequest):
    """What ``login_required`` and our middleware guarantee: a user and htmx's details."""

    user: User


def administrators_only(view: View) -> View:
    """Researchers get 403, strangers the sign-in page."""

    @wraps(view)
    def checked(request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_administrator:
            raise PermissionDenied("This is for administrators.")
        return view(request, *args, **kwargs)

    return cast(View, login_required(checked))
