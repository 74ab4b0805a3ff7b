"""Find the user of a session, for connections that outlive a request. A terminal, for example,
checks its session repeatedly."""

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.utils.crypto import constant_time_compare

from accounts.models import User, active_user


def user_of_session(session_key: str) -> User | None:
    """Return the user of a session; ``None`` after they signed out, were deactivated, or changed
    their password elsewhere.

    This only reads. After a change of ``SECRET_KEY``, Django's ``get_user`` would give the session
    a new key, which the browser would never learn, because no response is sent from here.
    """
    session = SessionStore(session_key)
    user_id = session.get(SESSION_KEY)
    session_hash = session.get(HASH_SESSION_KEY, "")
    user = active_user(int(user_id)) if user_id else None
    if user is None:
        return None
    valid_hashes = (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
    is_valid = any(constant_time_compare(session_hash, valid) for valid in valid_hashes)
    return user if is_valid else None
