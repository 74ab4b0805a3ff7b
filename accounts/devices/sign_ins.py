"""What there is to do with such a sign-in: it is begun by a program, which nobody knows yet,
approved or denied by a person, and becomes an access key of theirs when the program collects it."""

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

LETTERS = "BCDFGHJKLMNPQRSTVWXZ"  # no vowels, which make words, and no digits, which look like them
HALF_LENGTH = 4
LIFETIME = timedelta(minutes=10)
KEY_LIFETIME = timedelta(days=90)


class NotWaiting(ValidationError):
    """The sign-in was answered already, or has expired."""

    def __init__(self) -> None:
        super().__init__("This code was used, or has expired. Start again: trainyard login")


def begin(name: str) -> tuple[DeviceSignIn, str]:
    """A sign-in and the secret by which its program asks for the answer. What ended is dropped."""
    DeviceSignIn.objects.filter(expires_at__lt=timezone.now() - LIFETIME).delete()
    secret = secrets.token_urlsafe(32)
    sign_in = DeviceSignIn(
        name=name,
        code=_code(),
        secret_hash=_hash(secret),
        expires_at=timezone.now() + LIFETIME,
    )
    sign_in.full_clean()
    sign_in.save()
    return sign_in, secret


def find_waiting(code: str) -> DeviceSignIn | None:
    """The one with this code, as people type it, that nobody has answered yet."""
    letters = "".join(it for it in code.upper() if it in LETTERS)
    typed = f"{letters[:HALF_LENGTH]}-{letters[HALF_LENGTH:]}"
    now = timezone.now()
    rows = DeviceSignIn.objects.filter(code=typed, answer=DeviceAnswer.WAITING, expires_at__gt=now)
    return rows.first()


def approve(sign_in: DeviceSignIn, *, by: User) -> None:
    """The program gets an access key of theirs. ``NotWaiting`` where it is too late."""
    _record_answer(sign_in, DeviceAnswer.APPROVED, "approve", by)


def deny(sign_in: DeviceSignIn, *, by: User) -> None:
    _record_answer(sign_in, DeviceAnswer.DENIED, "deny", by)


def _record_answer(sign_in: DeviceSignIn, answer: DeviceAnswer, verb: Verb, by: User) -> None:
    now = timezone.now()
    with transaction.atomic():
        rows = DeviceSignIn.objects.filter(
            pk=sign_in.pk, answer=DeviceAnswer.WAITING, expires_at__gt=now
        )
        if not rows.update(answer=answer, user=by):
            raise NotWaiting
        audit.record(by, verb, sign_in)


def find_by_secret(secret: str) -> DeviceSignIn | None:
    """The one that a program began, however it stands; ``None`` where it has ended."""
    rows = DeviceSignIn.objects.select_related("user")
    return rows.filter(secret_hash=_hash(secret), expires_at__gt=timezone.now()).first()


def collect_key(sign_in: DeviceSignIn) -> tuple[AccessKey, str] | None:
    """The key of an approved one and its secret, once; ``None`` where there is nothing to get."""
    with transaction.atomic():
        rows = DeviceSignIn.objects.filter(
            pk=sign_in.pk, answer=DeviceAnswer.APPROVED, user__is_active=True
        )
        if not rows.update(answer=DeviceAnswer.DONE):
            return None
        sign_in.refresh_from_db()
        if sign_in.user is None:
            return None
        ends = timezone.now() + KEY_LIFETIME
        return tokens.make_key(sign_in.user, sign_in.name, expires_at=ends)


def _code() -> str:
    letters = [secrets.choice(LETTERS) for _ in range(2 * HALF_LENGTH)]
    return f"{''.join(letters[:HALF_LENGTH])}-{''.join(letters[HALF_LENGTH:])}"


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
