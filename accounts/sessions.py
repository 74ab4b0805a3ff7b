"""Sessions: how each request reads its own, and whose it is, asked again and again by connections
that outlive a request too."""

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.crypto import constant_time_compare

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
    """``None`` once they signed out, were locked, or changed their password elsewhere. Nothing is
    changed: after the secret key was, Django's own would give the session another key, which the
    browser, who is not answered here, would never hear of."""
    session = SessionStore(session_key)
    number, mark = session.get(SESSION_KEY), session.get(HASH_SESSION_KEY, "")
    user = next(iter(active(int(number))), None) if number else None
    if user is None:
        return None
    marks = (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
    return user if any(constant_time_compare(mark, it) for it in marks) else None
