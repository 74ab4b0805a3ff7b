"""Record who did what. Every action of a user has one line for it::

    audit.record(by, "update", project, before=before, after=audit.facts(project))

Call it in the transaction of the change, so that neither is saved without the other.
``tests/audit/test_verbs.py`` performs each action and looks for its entry.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db.models import DateTimeField, JSONField, Model
from django.utils import timezone

from audit.models import AuditEntry
from audit.words import ATTEMPT, Verb
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
    """Record that the user ``by`` did this to ``target``. ``by`` is ``None`` for commands on the
    machine itself."""
    record_each(by, verb, [target], before=before, after=after)


def record_refusal(by: AbstractUser, attempt: str, permission: str) -> None:
    """Record that the user ``by`` was refused an ``attempt``, a method and a path, for lack of a
    permission. The same attempt is recorded once an hour, because pages and programs repeat
    theirs."""
    told = {
        "by_name": str(by),
        "verb": ATTEMPT,
        "target_kind": "request",
        "target_name": attempt[:200],
    }
    an_hour_ago = timezone.now() - timedelta(hours=1)
    if not AuditEntry.objects.filter(at__gte=an_hour_ago, **told).exists():
        AuditEntry.objects.create(by_id=by.pk, after={"missing permission": permission}, **told)


def record_each(
    by: AbstractUser | None,
    verb: Verb,
    targets: Iterable[Model],
    *,
    before: Facts | None = None,
    after: Facts | None = None,
) -> None:
    """Record the same action on several objects, in one query."""
    old_values, new_values = _changes(
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
            before=old_values,
            after=new_values,
        )
        for target in targets
    )


def facts(row: Model, *json: str) -> dict[str, Any]:
    """Return the columns of a row for ``before`` and ``after``, without empty values, encrypted
    columns and times. JSON columns are only included if ``json`` names them."""
    values: dict[str, Any] = {}
    for field in row._meta.concrete_fields:
        if isinstance(field, EncryptedTextField | DateTimeField):
            continue
        if field.primary_key or (isinstance(field, JSONField) and field.name not in json):
            continue
        value = getattr(row, field.attname)
        if value not in EMPTY_VALUES:
            if field.is_relation:
                value = str(getattr(row, field.name))
            values[field.name.removesuffix("_json")] = value
    return values


def _flatten(value: Any, path: str = "") -> dict[str, Any]:
    """Flatten a document into values by path, such as ``spec.image``, so that a change shows only
    the values that differ. Empty values are left out."""
    if isinstance(value, Mapping):
        prefix = f"{path}." if path else ""
        children = [(f"{prefix}{key}", item) for key, item in value.items()]
    elif isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
        children = [(f"{path}[{number}]", item) for number, item in enumerate(value)]
    else:
        text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
        return {} if text in EMPTY_VALUES else {path: text}
    flat: dict[str, Any] = {}
    for key, item in children:
        flat |= _flatten(item, key)
    return flat


def without_secrets(value: Any) -> Any:
    """Return the value without secrets: values with the name of a secret, the values of environment
    variables, and passwords in URLs and on command lines."""
    if isinstance(value, Mapping):
        is_variable = {"name", "value"} <= set(value)
        visible: dict[Any, Any] = {}
        for key, item in value.items():
            is_secret = SECRET_NAME.search(str(key)) or (is_variable and key == "value")
            visible[key] = HIDDEN if is_secret else without_secrets(item)
        return visible
    if isinstance(value, list | tuple):
        return [without_secrets(item) for item in value]
    if isinstance(value, str):
        return SECRET_OPTION.sub(rf"\1{HIDDEN}", URL_CREDENTIALS.sub(HIDDEN, value))
    return value


def _changes(before: dict[str, Any], after: dict[str, Any]) -> tuple[Facts, Facts]:
    """Return the values that differ, in both versions. If one side is empty, return all values of
    the other."""
    if not (before and after):
        return before, after
    keys = [key for key in before | after if before.get(key) != after.get(key)]
    return (
        {key: before[key] for key in keys if key in before},
        {key: after[key] for key in keys if key in after},
    )
