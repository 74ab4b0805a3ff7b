"""Sessions: how each request reads its own, and whose it is, asked again and again by connections
that outlive a request too."""

from importlib import import_module

from allauth.account.auth_backends import AuthenticationBackend
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import User, active
from core.database.prepared import prepared


class SessionStore(db.SessionStore):
    """In the database, as Django's."""

    def _get_session_from_db(self) -> Session | None:
        session = next(iter(_session(self.session_key)), None)
        if session is None or session.expire_date <= timezone.now():
            self._session_key = None
            return None
        return session


@prepared
def _session(key: str | None) -> QuerySet[Session]:
    return Session.objects.filter(session_key=key)


class SignInBackend(AuthenticationBackend):  # type: ignore[misc]  # allauth left it untyped
    """allauth's, but for how each request reads its user."""

    def get_user(self, user_id: int) -> User | None:
        return next(iter(active(user_id)), None)


def user_of(session_key: str) -> User | None:
    """``None`` once they signed out, were locked, or changed their password elsewhere."""
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    user = get_user(request)
    return user if isinstance(user, User) and user.is_active else None
