"""Sessions: how each request reads its own, and whose it is, asked again and again by connections
that outlive a request."""

from importlib import import_module

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import User


class SessionStore(db.SessionStore):
    """In the database, read by a query that stands here: each request asks for its session, and
    Django takes longer to put that into SQL than the database to answer it."""

    def _get_session_from_db(self) -> Session | None:
        query = "SELECT * FROM django_session WHERE session_key = %s"
        session = next(iter(Session.objects.raw(query, [self.session_key])), None)
        if session is None or session.expire_date <= timezone.now():
            self._session_key = None
            return None
        return session


def user_of(session_key: str) -> User | None:
    """``None`` once they signed out, were locked, or changed their password elsewhere."""
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    user = get_user(request)
    return user if isinstance(user, User) and user.is_active else None
