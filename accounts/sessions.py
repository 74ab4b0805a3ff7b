"""The user of a session, for connections that outlive a request, such as terminals: they check
again and again whose session it is."""

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.utils.crypto import constant_time_compare

from accounts.models import User, active_user


def user_of_session(session_key: str) -> User | None:
    """The user of a session; ``None`` after they signed out, were locked, or changed their password
    elsewhere.

    Nothing is written. After a change of the secret key, Django's ``get_user`` would give the
    session a new key, of which the browser would never hear: no response is sent from here.
    """
    session = SessionStore(session_key)
    number = session.get(SESSION_KEY)
    mark = session.get(HASH_SESSION_KEY, "")
    user = active_user(int(number)) if number else None
    if user is None:
        return None
    marks = (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
    return user if any(constant_time_compare(mark, it) for it in marks) else None
