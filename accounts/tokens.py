"""Issue the bearer tokens of the REST API, and find the user to whom a token belongs."""

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import jwt
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from accounts.models import AccessKey, User, active_user
from audit import services as audit

LIFETIME = timedelta(hours=12)
REFRESH_LIFETIME = timedelta(days=30)
ALGORITHM = "HS256"
AUDIENCE = "trainyard-api"
REFRESH_AUDIENCE = "trainyard-refresh"


@dataclass(frozen=True)
class TokenPair:
    """The tokens of a sign-in. ``refresh`` can be exchanged for the next access token, without the
    password, until the sign-in ends."""

    access: str
    refresh: str
    expires_in: int  # seconds until the access token expires


def access_token_for(user: User, *, key: AccessKey | None = None) -> str:
    """Return a new access token. Like a session, it ends when the password changes. It also ends
    when the access key with which it was created is deleted or expires."""
    return _sign_token(user, key, AUDIENCE, timezone.now() + LIFETIME)


def create_tokens(
    user: User, *, key: AccessKey | None = None, until: datetime | None = None
) -> TokenPair:
    """Return both tokens of a new sign-in, or of one that ends at ``until``."""
    now = timezone.now()
    refresh_end = until or now + REFRESH_LIFETIME
    access_end = min(now + LIFETIME, refresh_end)
    if key and key.expires_at:
        access_end = min(access_end, key.expires_at)
    return TokenPair(
        access=_sign_token(user, key, AUDIENCE, access_end),
        refresh=_sign_token(user, key, REFRESH_AUDIENCE, refresh_end),
        expires_in=int((access_end - now).total_seconds()),
    )


def renew_tokens(refresh: str) -> tuple[User, TokenPair] | None:
    """Exchange a refresh token for new tokens; ``None`` if it has ended."""
    verified = _read_token(refresh, REFRESH_AUDIENCE)
    if verified is None:
        return None
    user, claims = verified
    # The new refresh token ends with the old one, so that a sign-in cannot be prolonged forever.
    until = datetime.fromtimestamp(claims["exp"], tz=timezone.get_current_timezone())
    return user, create_tokens(user, key=user.acting_key, until=until)


def has_refresh_signature(refresh: str) -> bool:
    """Whether Trainyard issued this refresh token, even if it has ended."""
    try:
        jwt.decode(
            refresh,
            _signing_key(),
            algorithms=[ALGORITHM],
            audience=REFRESH_AUDIENCE,
            options={"verify_exp": False},
        )
    except jwt.InvalidTokenError:
        return False
    return True


def token_owner(token: str) -> User | None:
    """Return the user to whom a token belongs; ``None`` if it is forged or has expired, or if its
    owner may not sign in. With a token of an access key, the user may only do what the key covers.
    """
    verified = _read_token(token, AUDIENCE)
    return verified[0] if verified else None


def _read_token(token: str, audience: str) -> tuple[User, dict[str, Any]] | None:
    """Return the owner and the claims of a token; ``None`` if it is not valid."""
    try:
        claims = _claims(token, _signing_key(), audience)
        if claims["exp"] <= timezone.now().timestamp():
            return None
        user = active_user(int(claims["sub"]))
    except (jwt.InvalidTokenError, KeyError, ValueError):
        return None
    if user is None or claims.get("pwd") != _password_mark(user):
        return None
    key_id = claims.get("key")
    if key_id is not None:
        key = user.access_keys.filter(pk=key_id).first()
        if key is None or key.has_ended or claims.get("secret") != _secret_mark(key):
            return None
        user.acting_key = key
    return user, claims


@lru_cache(1024)
def _claims(token: str, signing_key: str, audience: str) -> dict[str, Any]:
    """Return the claims of a token. ``InvalidTokenError`` if its signature is wrong."""
    # Cached, because a program sends the same token with each call. The cache outlives the token,
    # so _read_token checks its end each time.
    claims: dict[str, Any] = jwt.decode(
        token, signing_key, algorithms=[ALGORITHM], audience=audience
    )
    return claims


def _sign_token(user: User, key: AccessKey | None, audience: str, until: datetime) -> str:
    claims = {
        "sub": str(user.pk),
        "aud": audience,
        "iat": timezone.now(),
        "exp": until,
        "pwd": _password_mark(user),
        "key": key.pk if key else None,
        "secret": _secret_mark(key) if key else None,
    }
    return jwt.encode(claims, _signing_key(), algorithm=ALGORITHM)


def make_key(
    user: User,
    name: str,
    *,
    expires_at: datetime | None = None,
    scopes: Collection[str] = (),
    by: User | None = None,
) -> tuple[AccessKey, str]:
    """Create an access key, and return it with its secret, which is not stored. Without ``scopes``
    the key has all permissions of its owner. ``by`` is who creates it, if not the owner.
    ``ValidationError`` names the fields that are wrong."""
    secret = secrets.token_urlsafe(32)
    key = AccessKey(
        user=user,
        name=name,
        client_id=f"{user.username[:40]}-{secrets.token_hex(6)}",
        secret_hash=_hash(secret),
        expires_at=expires_at,
        scopes=sorted(set(scopes)),
    )
    key.full_clean()
    with transaction.atomic():
        key.save()
        audit.record(by or user, "create", key, after=_facts(key))
    return key, secret


def delete_key(key: AccessKey, *, by: User) -> None:
    """Delete an access key. Programs that use it lose access immediately."""
    with transaction.atomic():
        audit.record(by, "delete", key, before=_facts(key))
        key.delete()


def renew_secret(key: AccessKey, *, by: User) -> str:
    """Return a new secret, which is not stored. The old one and its tokens stop working."""
    secret = secrets.token_urlsafe(32)
    key.secret_hash = _hash(secret)
    with transaction.atomic():
        key.save(update_fields=["secret_hash"])
        audit.record(by, "renew the secret of", key)
    return secret


def find_key(client_id: str, secret: str) -> AccessKey | None:
    """Return the access key with these credentials; ``None`` if they are wrong, the key has
    expired, or its owner is deactivated."""
    key = AccessKey.objects.select_related("user").filter(client_id=client_id).first()
    if key is None or not (_is_secret_of(secret, key) and key.user.is_active):
        return None
    if key.has_ended:
        return None
    key.last_used_at = timezone.now()
    key.save(update_fields=["last_used_at"])
    return key


def _facts(key: AccessKey) -> dict[str, Any]:
    expires_at = key.expires_at.isoformat() if key.expires_at else None
    return {"client_id": key.client_id, "expires_at": expires_at, "scopes": key.scopes}


def _hash(secret: str) -> str:
    """Return the hash of a secret."""
    # A fast hash suffices, because nobody can guess 256 random bits. So many programs can sign in
    # at the same time.
    return hashlib.sha256(secret.encode()).hexdigest()


def _is_secret_of(secret: str, key: AccessKey) -> bool:
    return constant_time_compare(_hash(secret), key.secret_hash)


def _password_mark(user: User) -> str:
    return user.get_session_auth_hash()[:16]


def _secret_mark(key: AccessKey) -> str:
    return key.secret_hash[-16:]


def _signing_key() -> str:
    return hashlib.sha256(f"api-token:{settings.SECRET_KEY}".encode()).hexdigest()
