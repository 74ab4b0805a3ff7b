"""Record who did what. Everything that a person may do has one line for it::

    audit.record(by, "update", project, before=before, after=audit.facts(project))

Call it in the transaction of the change, so that neither is saved without the other.
``tests/audit/test_verbs.py`` does each of these things and looks for its entry.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db.models import DateTimeField, JSONField, Model

from audit.models import AuditEntry
from audit.words import Verb
from core.database.fields import EncryptedTextField

Facts = Mapping[str, Any]

SECRET_NAME = re.compile(r"passw|secret|token|kubeconfig|credential|private|hash", re.IGNORECASE)
HIDDEN = "(not kept)"
URL_CREDENTIALS = re.compile(r"(?<=://)[^/?#\s]+(?=@)")  # the user and password in a URL
#: The value of an option or a variable on a command line whose name sounds like a secret.
SECRET_OPTION = re.compile(
    r"(--?[\w-]*(?:passw|secret|token|credential|api-?key)[\w-]*(?:=|\s+)"
    r"|\b\w*(?:passw|secret|token|credential|api_?key)\w*=)\S+",
    re.IGNORECASE,
)
EMPTY_VALUES: tuple[object, ...] = (None, "", [], {})


def record(
    by: AbstractUser | None,
    verb: Verb,
    target: Model,
    *,
    before: Facts | None = None,
    after: Facts | None = None,
) -> None:
    """Record that somebody did this to ``target``. ``by`` is ``None`` for commands on the machine
    itself."""
    record_each(by, verb, [target], before=before, after=after)


def record_each(
    by: AbstractUser | None,
    verb: Verb,
    targets: Iterable[Model],
    *,
    before: Facts | None = None,
    after: Facts | None = None,
) -> None:
    """The same for several objects, in one query."""
    was, now = _changes(
        _flatten(without_secrets(before or {})), _flatten(without_secrets(after or {}))
    )
    AuditEntry.objects.bulk_create(
        AuditEntry(
            by_id=by.pk if by else None,
            by_name=str(by) if by else "",
            verb=verb,
            target_kind=str(target._meta.verbose_name),
            target_id=str(target.pk),
            target_name=str(target)[:200],
            before=was,
            after=now,
        )
        for target in targets
    )


def facts(row: Model, *json: str) -> dict[str, Any]:
    """The columns of a row for ``before`` and ``after``: none that are encrypted, no times, and
    only those JSON columns that are named."""
    shown: dict[str, Any] = {}
    for field in row._meta.concrete_fields:
        if isinstance(field, EncryptedTextField | DateTimeField):
            continue
        if field.primary_key or (isinstance(field, JSONField) and field.name not in json):
            continue
        value = getattr(row, field.attname)
        if value not in EMPTY_VALUES:
            name = str(getattr(row, field.name)) if field.is_relation else value
            shown[field.name.removesuffix("_json")] = name
    return shown


def _flatten(value: Any, path: str = "") -> dict[str, Any]:
    """Flatten a document into values by path, such as ``spec.image``, so that a change shows only
    the values that differ. Empty values are left out."""
    if isinstance(value, Mapping):
        below = [(f"{path}.{key}" if path else str(key), item) for key, item in value.items()]
    elif isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
        below = [(f"{path}[{number}]", item) for number, item in enumerate(value)]
    else:
        text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
        return {} if text in EMPTY_VALUES else {path: text}
    return {name: leaf for key, item in below for name, leaf in _flatten(item, key).items()}


def without_secrets(value: Any) -> Any:
    """The same value without secrets: whatever has the name of a secret, the values of variables,
    and passwords in URLs and on command lines."""
    if isinstance(value, Mapping):
        is_variable = {"name", "value"} <= set(value)
        return {
            key: HIDDEN
            if SECRET_NAME.search(str(key)) or (is_variable and key == "value")
            else without_secrets(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [without_secrets(item) for item in value]
    if isinstance(value, str):
        return SECRET_OPTION.sub(rf"\1{HIDDEN}", URL_CREDENTIALS.sub(HIDDEN, value))
    return value


def _changes(before: dict[str, Any], after: dict[str, Any]) -> tuple[Facts, Facts]:
    """What differs between both; if one is empty, all of the other."""
    if not (before and after):
        return before, after
    keys = [key for key in before | after if before.get(key) != after.get(key)]
    return (
        {key: before[key] for key in keys if key in before},
        {key: after[key] for key in keys if key in after},
    )
