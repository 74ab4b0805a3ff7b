"""``filterBy``, ``sortBy`` and ``search`` of the list, in Run:ai's grammar.

A filter is ``field<op>value`` with ``==  !=  <=  >=  =@`` (contains) ``!@`` (does not) ``=^``
(starts with) ``=$`` (ends with); dates are ISO 8601.
"""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from core.api import ApiError
from workloads.models import WorkloadQuerySet

TEXT, NUMBER, DATE, ID = str, float, datetime, UUID
LARGEST = 1e18
ALMOST_A_MILLISECOND = timedelta(microseconds=999)
# API name → column and type.
FIELDS: dict[str, tuple[str, type]] = {
    "name": ("name", TEXT),
    "phase": ("phase", TEXT),
    "phaseReason": ("reason", TEXT),
    "failureClass": ("failure_class", TEXT),
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
OPERATOR = r"(==|!=|<=|>=|=@|!@|=\^|=\$)"
GRAMMAR = re.compile(rf"^(\w+){OPERATOR}(.*)$", re.DOTALL)
ANOTHER = re.compile(rf",\s*\w+{OPERATOR}")


def narrow(rows: WorkloadQuerySet, filters: Iterable[str], search: str) -> WorkloadQuerySet:
    """Rows that pass every filter. ``ApiError`` 400 says which one cannot be read."""
    for text in filters:
        rows = rows.filter(_condition(text))
    if search:
        matches = Q(name__icontains=search) | Q(image__icontains=search)
        rows = rows.filter(matches | Q(created_by__username__icontains=search))
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
    if ANOTHER.search(value):
        details = "Repeat filterBy for each condition; all of them must match."
        raise ApiError(400, f"filterBy {text!r} joins filters with a comma.", details=details)
    column, kind = _field(name, text)
    if operator in TEXT_ONLY and kind is not TEXT:
        raise ApiError(400, f"filterBy {text!r}: {operator} works on text only.")
    lookup, negated = LOOKUPS[operator]
    wanted = _value(value, kind, text)
    if kind is DATE and lookup in {"exact", "lte"}:
        lookup, wanted = _within(lookup, wanted)
    condition = Q(**{f"{column}__{lookup}": wanted})
    return ~condition if negated else condition


def _within(lookup: str, moment: datetime) -> tuple[str, Any]:
    """Answers tell moments to the millisecond, and one that was answered is found by it."""
    last = moment if moment.microsecond % 1000 else moment + ALMOST_A_MILLISECOND
    return ("lte", last) if lookup == "lte" else ("range", (moment, last))


def _field(name: str, text: str) -> tuple[str, type]:
    if name not in FIELDS:
        names = ", ".join(sorted(FIELDS))
        raise ApiError(400, f"{text!r}: there is no field {name!r}.", details=f"Known: {names}.")
    return FIELDS[name]


def _value(text: str, kind: type, whole: str) -> Any:
    try:
        return READERS[kind](text)
    except (ValueError, OverflowError) as error:
        wanted = {NUMBER: "a number", DATE: "a date in ISO 8601", ID: "an id", TEXT: "text"}[kind]
        raise ApiError(400, f"filterBy {whole!r}: {text!r} is not {wanted}.") from error


def _number(text: str) -> float:
    number = float(text)
    if not abs(number) < LARGEST:
        raise ValueError("NaN, or more than a column holds")
    return number


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else timezone.make_aware(moment)).astimezone(UTC)


READERS: dict[type, Callable[[str], Any]] = {TEXT: str, NUMBER: _number, DATE: _moment, ID: UUID}
