"""Encrypt everything in the database again, with the current secret key."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db.models import Model, QuerySet, TextField
from django.db.models.functions import Cast

from core.database.fields import EncryptedTextField, Unreadable, decrypt, is_under_first_key


@dataclass(frozen=True)
class RotationCounts:
    """Numbers of texts: ``rewritten`` with the current key, ``lost`` because no key decrypts them,
    and ``left`` because another process wrote them with an older key meanwhile."""

    rewritten: int
    lost: int
    left: int


def reencrypt_all() -> RotationCounts:
    """Re-encrypt text by text. All texts stay readable throughout, and one that changes meanwhile
    is not overwritten."""
    rewritten = lost = left = 0
    for texts, column in encrypted_texts():
        for pk, token in list(texts.values_list("pk", "token")):
            if is_under_first_key(token):
                continue
            try:
                text = decrypt(token)
            except Unreadable:
                lost += 1
                continue
            # Guarded by the old token: a text that changed meanwhile keeps its new value.
            rewritten += texts.filter(pk=pk, token=token).update(**{column: text})
        left += sum(_needs_another_key(token) for token in texts.values_list("token", flat=True))
    return RotationCounts(rewritten, lost, left)


def encrypted_texts() -> Iterator[tuple[QuerySet[Any], str]]:
    """Yield the rows and the name of each encrypted column. The rows have the stored text as
    ``token``."""
    for model in apps.get_models():
        for field in model._meta.local_concrete_fields:
            if isinstance(field, EncryptedTextField) and not model._meta.proxy:
                yield _rows_with_token(model, field.name), field.name


def _rows_with_token(model: type[Model], column: str) -> QuerySet[Any]:
    rows = model._base_manager.annotate(token=Cast(column, TextField()))
    return rows.exclude(token="").exclude(token=None)


def _needs_another_key(token: str) -> bool:
    if is_under_first_key(token):
        return False
    try:
        decrypt(token)
    except Unreadable:
        return False
    return True
