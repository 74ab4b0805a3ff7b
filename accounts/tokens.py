"""Issue the bearer tokens of the REST API, and find out to whom a token belongs."""

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
    """The tokens of a sign-in. ``refresh`` gets the next access token without the password, until
    the sign-in ends."""

    access: str
    refresh: str
    expires_in: int  # seconds until the access token expires


def access_token_for(user: User, *, key: AccessKey | None = None) -> str:
    """A signed token. It ends with a change of password, like sessions, and when the access key it
    was made with is deleted or expires."""
    return _sign_token(user, key, AUDIENCE, timezone.now() + LIFETIME)


def create_tokens(
    user: User, *, key: AccessKey | None = None, until: datetime | None = None
) -> TokenPair:
    """Both tokens of a new sign-in, or of one that lasts ``until`` a time."""
    now = timezone.now()
    last = until or now + REFRESH_LIFETIME
    ends = min(it for it in (now + LIFETIME, last, key and key.expires_at) if it)
    access = _sign_token(user, key, AUDIENCE, ends)
    return TokenPair(
        access, _sign_token(user, key, REFRESH_AUDIENCE, last), int((ends - now).total_seconds())
    )


def renew_tokens(refresh: str) -> tuple[User, TokenPair] | None:
    """New tokens in exchange for a refresh token; ``None`` if that has ended."""
    if (signed := _read_token(refresh, REFRESH_AUDIENCE)) is None:
        return None
    user, claims = signed
    until = datetime.fromtimestamp(claims["exp"], tz=timezone.get_current_timezone())
    return user, create_tokens(user, key=user.acting_key, until=until)


def has_refresh_signature(refresh: str) -> bool:
    """Whether this was a refresh token once, if it has ended or not."""
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
    """The user to whom a token belongs; ``None`` if it is forged or expired, or its owner may not
    sign in. If it was made with an access key, the user may only do what the key allows."""
    signed = _read_token(token, AUDIENCE)
    return signed[0] if signed else None


def _read_token(token: str, audience: str) -> tuple[User, dict[str, Any]] | None:
    try:
        claims = _claims(token, _signing_key(), audience)
        if claims["exp"] <= timezone.now().timestamp():
            return None
        user = active_user(int(claims["sub"]))
    except (jwt.InvalidTokenError, KeyError, ValueError):
        return None
    if user is None or claims.get("pwd") != _password_mark(user):
        return None
    if (pk := claims.get("key")) is not None:
        user.acting_key = key = user.access_keys.filter(pk=pk).first()
        if key is None or key.has_ended or claims.get("secret") != _secret_mark(key):
            return None
    return user, claims


@lru_cache(1024)
def _claims(token: str, signing_key: str, audience: str) -> dict[str, Any]:
    """The claims of a token. Cached, as a program sends the same token with each call. Raises
    ``InvalidTokenError``."""
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
    user: User, name: str, *, expires_at: datetime | None = None, scopes: Collection[str] = ()
) -> tuple[AccessKey, str]:
    """Create an access key, and return it with its secret, which is only shown this once. Without
    ``scopes`` it has all permissions of its owner. ``ValidationError`` names what is wrong."""
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
        audit.record(user, "create", key, after=_facts(key))
    return key, secret


def delete_key(key: AccessKey, *, by: User) -> None:
    """Delete an access key. Programs that use it lose access immediately."""
    with transaction.atomic():
        audit.record(by, "delete", key, before=_facts(key))
        key.delete()


def renew_secret(key: AccessKey, *, by: User) -> str:
    """Return a new secret, which is only shown this once. The old one and its tokens stop
    working."""
    secret = secrets.token_urlsafe(32)
    key.secret_hash = _hash(secret)
    with transaction.atomic():
        key.save(update_fields=["secret_hash"])
        audit.record(by, "renew the secret of", key)
    return secret


def find_key(client_id: str, secret: str) -> AccessKey | None:
    """The access key with these credentials; ``None`` if they are wrong, the key has expired, or
    its owner is locked."""
    key = AccessKey.objects.select_related("user").filter(client_id=client_id).first()
    if key is None or not (_is_secret_of(secret, key) and key.user.is_active):
        return None
    if key.has_ended:
        return None
    key.last_used_at = timezone.now()
    key.save(update_fields=["last_used_at"])
    return key


def _facts(key: AccessKey) -> dict[str, Any]:
    ends = key.expires_at.isoformat() if key.expires_at else None
    return {"client_id": key.client_id, "expires_at": ends, "scopes": key.scopes}


def _hash(secret: str) -> str:
    """The hash of a secret. It need not be slow, because 256 random bits cannot be guessed; so many
    programs can sign in at once."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _is_secret_of(secret: str, key: AccessKey) -> bool:
    return constant_time_compare(_hash(secret), key.secret_hash)


def _password_mark(user: User) -> str:
    return user.get_session_auth_hash()[:16]


def _secret_mark(key: AccessKey) -> str:
    return key.secret_hash[-16:]


def _signing_key() -> str:
    return hashlib.sha256(f"api-token:{settings.SECRET_KEY}".encode()).hexdigest()
