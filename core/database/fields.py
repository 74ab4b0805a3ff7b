"""Model fields without domain words."""

import base64
import hashlib
from typing import TYPE_CHECKING, Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db import models

from core.text import replace_unfit_characters

LONGEST_MESSAGE = 20_000  # characters; nobody reads more of a cluster's message


class Unreadable(Exception):
    """The text was encrypted under a secret key that this installation does not have."""


if TYPE_CHECKING:
    CharField = models.CharField[str, str]
    JSONField = models.JSONField[Any, Any]
    TextField = models.TextField[str, str]
else:  # generic for the type checker only
    CharField = models.CharField
    JSONField = models.JSONField
    TextField = models.TextField


class CleanedTextField(TextField):
    """Text from a cluster or a training. Unfit characters are replaced and long text is cut on
    saving, so that one odd line cannot keep the rest from being stored. Migrations see a
    ``TextField``."""

    def get_prep_value(self, value: Any) -> Any:
        text = super().get_prep_value(value)
        return (
            replace_unfit_characters(text)[: self.max_length or LONGEST_MESSAGE] if text else text
        )

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs


class CleanedCharField(CharField):
    """Like :class:`CleanedTextField`, for one line with a ``max_length``."""

    def get_prep_value(self, value: Any) -> Any:
        text = super().get_prep_value(value)
        return replace_unfit_characters(text)[: self.max_length] if text else text

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.CharField", args, kwargs


class CleanedJSONField(JSONField):
    """Like :class:`CleanedTextField`, for all strings in a JSON value."""

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        return super().get_db_prep_value(_clean(value), connection, prepared)

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", args, kwargs


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return {replace_unfit_characters(str(key)): _clean(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(inner) for inner in value]
    return replace_unfit_characters(value) if isinstance(value, str) else value


class EncryptedTextField(TextField):
    """Text that is encrypted in the database, so it cannot be searched.

    The key derives from ``SECRET_KEY``. After that changes, values written before are decrypted
    with ``SECRET_KEY_FALLBACKS`` until ``core.database.rotation`` has re-encrypted them.
    """

    def get_prep_value(self, value: Any) -> Any:
        text = super().get_prep_value(value)
        return encrypt(text) if text else text

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> str | None:
        return decrypt(value) if value else value


class RenewableTextField(EncryptedTextField):
    """Like :class:`EncryptedTextField`, for a secret that people can generate again: if no key
    decrypts it, it reads as empty instead of raising ``Unreadable``."""

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> str | None:
        try:
            return super().from_db_value(value, expression, connection)
        except Unreadable:
            return ""

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "core.database.fields.EncryptedTextField", args, kwargs


def encrypt(text: str) -> str:
    return _cipher().encrypt(text.encode()).decode()


def decrypt(token: str) -> str:
    try:
        return _cipher().decrypt(token.encode()).decode()
    except InvalidToken as error:
        message = (
            "What is stored encrypted cannot be read: the key of this Trainyard is another one."
        )
        raise Unreadable(f"{message} Enter it again, or put the key back.") from error


def is_under_first_key(token: str) -> bool:
    """Whether the value is encrypted with the current key, not with a fallback."""
    try:
        Fernet(_derive_key(settings.SECRET_KEY)).decrypt(token.encode())
    except InvalidToken:
        return False
    return True


def _cipher() -> MultiFernet:
    """The current key, which encrypts, and the fallbacks, which only decrypt."""
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([Fernet(_derive_key(str(secret))) for secret in secrets])


def _derive_key(secret: str) -> bytes:
    digest = hashlib.sha256(b"trainyard encrypted field\0" + secret.encode()).digest()
    return base64.urlsafe_b64encode(digest)
