"""Read the session of a request and its user. Connections that outlive a request, such as
terminals, check again and again whose session it is."""

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
    """Django's sessions in the database."""

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
    """allauth's backend, except for how each request reads its user."""

    def get_user(self, user_id: int) -> User | None:
        return next(iter(active(user_id)), None)


def user_of(session_key: str) -> User | None:
    """The user of a session; ``None`` after they signed out, were locked, or changed their password
    elsewhere.

    Nothing is written. After a change of the secret key, Django's ``get_user`` would give the
    session a new key, of which the browser would never hear: no response is sent from here.
    """
    session = SessionStore(session_key)
    number, mark = session.get(SESSION_KEY), session.get(HASH_SESSION_KEY, "")
    user = next(iter(active(int(number))), None) if number else None
    if user is None:
        return None
    marks = (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
    return user if any(constant_time_compare(mark, it) for it in marks) else None
