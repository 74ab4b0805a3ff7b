"""``filterBy``, ``sortBy`` and ``search`` of the list, in Run:ai's grammar.

A filter is ``field<op>value`` with ``==  !=  <=  >=  =@`` (contains) ``!@`` (does not) ``=^``
(starts with) ``=$`` (ends with); dates are ISO 8601.
"""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from core.api import ApiError
from workloads.models import WorkloadQuerySet

TEXT, NUMBER, DATE, ID = str, float, datetime, UUID
LARGEST = 1e18
# API name → column and type.
FIELDS: dict[str, tuple[str, type]] = {
    "name": ("name", TEXT),
    "phase": ("phase", TEXT),
    "phaseReason": ("reason", TEXT),
    "projectId": ("project_id", NUMBER),
    "projectName": ("project__name", TEXT),
    "clusterId": ("cluster_id", ID),
    "submittedBy": ("created_by__username", TEXT),
    "distributedFramework": ("framework", TEXT),
    "images": ("image", TEXT),
    "createdAt": ("created_at", DATE),
    "completedAt": ("completed_at", DATE),
    "phaseUpdatedAt": ("phase_updated_at", DATE),
    "requestedPods": ("num_pods", NUMBER),
    "runningPods": ("running_pods", NUMBER),
    "requestedGPU": ("gpus", NUMBER),
    "totalPendingTimeSeconds": ("pending_seconds", NUMBER),
    "totalRunningTimeSeconds": ("running_seconds", NUMBER),
}
LOOKUPS = {
    "==": ("exact", False),
    "!=": ("exact", True),
    "<=": ("lte", False),
    ">=": ("gte", False),
    "=@": ("icontains", False),
    "!@": ("icontains", True),
    "=^": ("istartswith", False),
    "=$": ("iendswith", False),
}
TEXT_ONLY = {"=@", "!@", "=^", "=$"}
GRAMMAR = re.compile(r"^(\w+)(==|!=|<=|>=|=@|!@|=\^|=\$)(.*)$", re.DOTALL)


def narrow(rows: WorkloadQuerySet, filters: Iterable[str], search: str) -> WorkloadQuerySet:
    """Rows that pass every filter. ``ApiError`` 400 says which one cannot be read."""
    for text in filters:
        rows = rows.filter(_condition(text))
    if search := search.replace("\0", ""):  # PostgreSQL takes no NUL
        found = Q(name__icontains=search) | Q(image__icontains=search)
        rows = rows.filter(found | Q(created_by__username__icontains=search))
    return rows


def order(rows: WorkloadQuerySet, sort_by: str, sort_order: str) -> WorkloadQuerySet:
    column, _ = _field(sort_by, f"sortBy={sort_by}")
    sign = "-" if sort_order == "desc" else ""
    return rows.order_by(f"{sign}{column}", f"{sign}pk")


def _condition(text: str) -> Q:
    parsed = GRAMMAR.match(text)
    if not parsed:
        example = "name==train or createdAt>=2026-01-31T00:00:00Z"
        raise ApiError(400, f"filterBy {text!r} cannot be read.", details=f"Write {example}.")
    name, operator, value = parsed.groups()
    column, kind = _field(name, text)
    if operator in TEXT_ONLY and kind is not TEXT:
        raise ApiError(400, f"filterBy {text!r}: {operator} works on text only.")
    lookup, negated = LOOKUPS[operator]
    condition = Q(**{f"{column}__{lookup}": _value(value, kind, text)})
    return ~condition if negated else condition


def _field(name: str, text: str) -> tuple[str, type]:
    if name not in FIELDS:
        known = ", ".join(sorted(FIELDS))
        raise ApiError(400, f"{text!r}: there is no field {name!r}.", details=f"Known: {known}.")
    return FIELDS[name]


def _value(text: str, kind: type, whole: str) -> Any:
    try:
        return READERS[kind](text)
    except (ValueError, OverflowError) as error:
        wanted = {NUMBER: "a number", DATE: "a date in ISO 8601", ID: "an id", TEXT: "text"}[kind]
        raise ApiError(400, f"filterBy {whole!r}: {text!r} is not {wanted}.") from error


def _text(text: str) -> str:
    if "\0" in text:
        raise ValueError("PostgreSQL keeps no NUL")
    return text


def _number(text: str) -> float:
    number = float(text)
    if not abs(number) < LARGEST:
        raise ValueError("NaN, or more than a column holds")
    return number


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else timezone.make_aware(moment)).astimezone(UTC)


READERS: dict[type, Callable[[str], Any]] = {TEXT: _text, NUMBER: _number, DATE: _moment, ID: UUID}
