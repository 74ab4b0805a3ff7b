"""Model fields without domain words."""

import base64
import hashlib
from typing import TYPE_CHECKING, Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db import models


class Unreadable(Exception):
    """The text was encrypted under a secret key that this installation does not have."""


if TYPE_CHECKING:
    TextField = models.TextField[str, str]
else:
    TextField = models.TextField  # generic for the type checker only


class EncryptedTextField(TextField):
    """Text that the database holds encrypted; it cannot be searched.

    The key derives from ``SECRET_KEY``. After a change of that, ``SECRET_KEY_FALLBACKS`` still
    read what was written before.
    """

    def get_prep_value(self, value: Any) -> Any:
        text = super().get_prep_value(value)
        return encrypt(text) if text else text

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> str | None:
        return decrypt(value) if value else value


def encrypt(text: str) -> str:
    return _keys().encrypt(text.encode()).decode()


def decrypt(token: str) -> str:
    try:
        return _keys().decrypt(token.encode()).decode()
    except InvalidToken as error:
        message = "Encrypted text cannot be read: SECRET_KEY is not the one it was written with."
        raise Unreadable(message) from error


def _keys() -> MultiFernet:
    """The first one writes, all of them read."""
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([Fernet(_key(str(secret))) for secret in secrets])


def _key(secret: str) -> bytes:
    digest = hashlib.sha256(b"trainyard encrypted field\0" + secret.encode()).digest()
    return base64.urlsafe_b64encode(digest)
