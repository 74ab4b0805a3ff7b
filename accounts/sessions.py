"""Whose session it is, asked again and again by connections that outlive a request."""

from importlib import import_module

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest

from accounts.models import User


def user_of(session_key: str) -> User | None:
    """``None`` once they signed out, were locked, or changed their password elsewhere."""
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    found = get_user(request)
    return found if isinstance(found, User) and found.is_active else None
