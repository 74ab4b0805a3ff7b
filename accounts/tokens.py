"""Bearer tokens of the REST API: who may have one, and whose a given one is."""

import hashlib
import secrets
from datetime import timedelta

import jwt
from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from accounts.models import AccessKey, User
from audit import services as audit

LIFETIME = timedelta(hours=12)
ALGORITHM = "HS256"
AUDIENCE = "trainyard-api"
QUICK = "sha256$"


def issue(user: User, *, key: AccessKey | None = None) -> str:
    """A signed token. A change of password ends it, as it ends sessions; so does the deletion of
    the access key that it was made with."""
    now = timezone.now()
    claims = {
        "sub": str(user.pk),
        "aud": AUDIENCE,
        "iat": now,
        "exp": now + LIFETIME,
        "pwd": _password_mark(user),
        "key": key.pk if key else None,
    }
    return jwt.encode(claims, _signing_key(), algorithm=ALGORITHM)


def owner(token: str) -> User | None:
    """Whose token it is; ``None`` when it is forged, expired, or its owner may not sign in."""
    try:
        claims = jwt.decode(token, _signing_key(), algorithms=[ALGORITHM], audience=AUDIENCE)
        user = User.objects.get(pk=int(claims["sub"]), is_active=True)
    except (jwt.InvalidTokenError, KeyError, ValueError, User.DoesNotExist):
        return None
    if claims.get("pwd") != _password_mark(user):
        return None
    key = claims.get("key")
    return user if key is None or user.access_keys.filter(pk=key).exists() else None


def make_key(user: User, name: str) -> tuple[AccessKey, str]:
    """A new access key and its secret, which is shown this once. ``ValidationError`` names what is
    wrong."""
    secret = secrets.token_urlsafe(32)
    key = AccessKey(
        user=user,
        name=name,
        client_id=f"{user.username[:40]}-{secrets.token_hex(6)}",
        secret_hash=_hash(secret),
    )
    key.full_clean()
    with transaction.atomic():
        key.save()
        audit.record(user, "create", key, after={"client_id": key.client_id})
    return key, secret


def delete_key(key: AccessKey, *, by: User) -> None:
    """Programs that use it lose access immediately."""
    with transaction.atomic():
        audit.record(by, "delete", key, before={"client_id": key.client_id})
        key.delete()


def key_of(client_id: str, secret: str) -> AccessKey | None:
    """The access key of these credentials; ``None`` when they are wrong or its owner is locked."""
    key = AccessKey.objects.select_related("user").filter(client_id=client_id).first()
    if key is None or not (_fits(secret, key.secret_hash) and key.user.is_active):
        return None
    used = {"last_used_at": timezone.now(), "secret_hash": _hash(secret)}
    AccessKey.objects.filter(pk=key.pk).update(**used)
    return key


def _hash(secret: str) -> str:
    """A secret of 256 random bits cannot be guessed, so its hash need not be slow: many sign-ins
    with keys hold nobody up."""
    return QUICK + hashlib.sha256(secret.encode()).hexdigest()


def _fits(secret: str, kept: str) -> bool:
    """Keys of before 0.3 have the slow hash of a password until they are used."""
    if kept.startswith(QUICK):
        return constant_time_compare(_hash(secret), kept)
    return check_password(secret, kept)


def _password_mark(user: User) -> str:
    return user.get_session_auth_hash()[:16]


def _signing_key() -> str:
    return hashlib.sha256(f"api-token:{settings.SECRET_KEY}".encode()).hexdigest()
