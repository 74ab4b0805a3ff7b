"""The steps of a sign-in by code. A program without credentials begins it, a user approves or
denies it, and the program then collects an access key of this user."""

import hashlib
import secrets
from datetime import timedelta

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts import tokens
from accounts.models import AccessKey, DeviceAnswer, DeviceSignIn, User
from audit import services as audit
from audit.words import Verb

LETTERS = "BCDFGHJKLMNPQRSTVWXZ"  # no vowels, which make words; no digits, which look like letters
HALF_LENGTH = 4
LIFETIME = timedelta(minutes=10)
KEY_LIFETIME = timedelta(days=90)


class NotWaiting(ValidationError):
    """The sign-in was answered already, or has expired."""

    def __init__(self) -> None:
        super().__init__("This code was used, or has expired. Start again: trainyard login")


def begin(name: str) -> tuple[DeviceSignIn, str]:
    """Create a sign-in, and return it with the secret by which the program collects the result.
    Sign-ins that ended some time ago are deleted."""
    DeviceSignIn.objects.filter(expires_at__lt=timezone.now() - LIFETIME).delete()
    secret = secrets.token_urlsafe(32)
    sign_in = DeviceSignIn(
        name=name,
        code=_new_code(),
        secret_hash=_hash(secret),
        expires_at=timezone.now() + LIFETIME,
    )
    sign_in.full_clean()
    sign_in.save()
    return sign_in, secret


def find_waiting(code: str) -> DeviceSignIn | None:
    """Return the sign-in with this code that nobody has answered yet, if there is one. The code may
    be typed in lower case, with spaces, or without the hyphen."""
    letters = "".join(letter for letter in code.upper() if letter in LETTERS)
    typed = f"{letters[:HALF_LENGTH]}-{letters[HALF_LENGTH:]}"
    now = timezone.now()
    rows = DeviceSignIn.objects.filter(code=typed, answer=DeviceAnswer.WAITING, expires_at__gt=now)
    return rows.first()


def approve(sign_in: DeviceSignIn, *, by: User) -> None:
    """Let the program collect an access key of the user ``by``. ``NotWaiting`` if it is too
    late."""
    _record_answer(sign_in, DeviceAnswer.APPROVED, "approve", by)


def deny(sign_in: DeviceSignIn, *, by: User) -> None:
    """Refuse the program an access key. ``NotWaiting`` if it is too late."""
    _record_answer(sign_in, DeviceAnswer.DENIED, "deny", by)


def _record_answer(sign_in: DeviceSignIn, answer: DeviceAnswer, verb: Verb, by: User) -> None:
    now = timezone.now()
    with transaction.atomic():
        rows = DeviceSignIn.objects.filter(
            pk=sign_in.pk, answer=DeviceAnswer.WAITING, expires_at__gt=now
        )
        # The UPDATE only matches while the sign-in waits, so of two answers the first counts.
        if not rows.update(answer=answer, user=by):
            raise NotWaiting
        audit.record(by, verb, sign_in)


def find_by_secret(secret: str) -> DeviceSignIn | None:
    """Return the sign-in that a program began, with any answer; ``None`` if it has ended."""
    rows = DeviceSignIn.objects.select_related("user")
    return rows.filter(secret_hash=_hash(secret), expires_at__gt=timezone.now()).first()


def collect_key(sign_in: DeviceSignIn) -> tuple[AccessKey, str] | None:
    """Create the access key of an approved sign-in, and return it with its secret; ``None`` if it
    was collected already, or is not approved."""
    with transaction.atomic():
        rows = DeviceSignIn.objects.filter(
            pk=sign_in.pk, answer=DeviceAnswer.APPROVED, user__is_active=True
        )
        # The UPDATE only matches once, so a program that asks twice gets one key.
        if not rows.update(answer=DeviceAnswer.DONE):
            return None
        sign_in.refresh_from_db()
        if sign_in.user is None:
            return None
        expires_at = timezone.now() + KEY_LIFETIME
        return tokens.make_key(sign_in.user, sign_in.name, expires_at=expires_at)


def _new_code() -> str:
    letters = [secrets.choice(LETTERS) for _ in range(2 * HALF_LENGTH)]
    return f"{''.join(letters[:HALF_LENGTH])}-{''.join(letters[HALF_LENGTH:])}"


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
