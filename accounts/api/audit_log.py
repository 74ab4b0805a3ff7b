"""REST: the audit log, with Run:ai's names. It does not contain refused requests."""

from collections.abc import Iterator
from datetime import datetime
from typing import Literal

from django.db.models import Case, QuerySet, Value, When
from django.http import HttpResponse, JsonResponse
from ninja import Field, Query, Router, Schema
from ninja.responses import NinjaJSONEncoder

from accounts import access
from accounts.api.tokens import ApiRequest
from audit.models import AuditEntry
from audit.search import matching_entries
from audit.words import ACTIONS, COMMAND_LINE, KINDS, UPDATE, VERBS
from core.rest.api import LAST_OFFSET, PAGE_LIMIT, TENANT, Issue, NextOffset, unreadable_request
from core.rest.filters import (
    DATE,
    TEXT,
    Fields,
    Filtered,
    SortBy,
    SortOrder,
    SortParameters,
    filter_queryset,
    sort_queryset,
    word_choices,
)
from core.rest.measures import Moment
from core.web.sheets import line_writer

router = Router(tags=["Access"])

FIELDS: Fields = {
    "timestamp": ("at", DATE),
    "subject": ("by_name", TEXT),
    "action": ("action", word_choices((*ACTIONS.values(), UPDATE))),
    "verb": ("verb", word_choices(VERBS)),
    "entity_type": ("target_kind", word_choices(KINDS)),
    "entity_name": ("target_name", TEXT),
    "entity_id": ("target_id", TEXT),
}
LARGEST_FILE = 20_000
COLUMNS = ("timestamp", "subject", "action", "verb", "entity_type", "entity_name", "entity_id")
#: Run:ai's action of each entry, as a column.
ACTION = Case(
    *(When(verb=verb, then=Value(action)) for verb, action in ACTIONS.items()),
    default=Value(UPDATE),
)


class AuditLogOut(Schema):
    """``metadata`` has the changed values: the keys are ``before.`` or ``after.`` and the field's
    name. It never contains a secret. ``subject`` is "Command line" for commands on the server's
    machine."""

    id: str = Field(description="Its ID")
    timestamp: datetime = Field(description="When it was done")
    tenant_id: str = Field(default=str(TENANT), description="The number of the account; always 1")
    subject: str = Field(description="Who did it")
    subject_type: str = Field(
        description="User, or Application for commands that are run on the machine itself"
    )
    action: str = Field(description="create, update, delete, sign-in, sign-out or reset-password")
    verb: str = Field(description="Trainyard's own word for what was done")
    entity_type: str = Field(description="The kind of the object")
    entity_name: str = Field(description="The name of the object at that time")
    entity_id: str = Field(description="The ID of the object that was changed")
    result: str = Field(
        default="Succeeded", description="Always Succeeded: refused calls are not recorded"
    )
    metadata: dict[str, str] = Field(
        description="What changed; a key is before. or after. and the name of the field"
    )

    @classmethod
    def of(cls, entry: AuditEntry) -> "AuditLogOut":
        parts = {"before": entry.before, "after": entry.after}
        return cls(
            id=str(entry.pk),
            timestamp=entry.at,
            subject=entry.by_name or COMMAND_LINE,
            subject_type="User" if entry.by_name else "Application",
            action=ACTIONS.get(entry.verb, UPDATE),
            verb=entry.verb,
            entity_type=entry.target_kind,
            entity_name=entry.target_name,
            entity_id=entry.target_id,
            metadata={
                f"{part}.{name}": str(value)
                for part, values in parts.items()
                for name, value in values.items()
            },
        )


class AuditLogList(Schema):
    total: int = Field(description="How many there are on all pages")
    next: NextOffset
    audit_logs: list[AuditLogOut] = Field(description="The entries, newest first")


class AuditTime(Filtered):
    """Entries from ``start`` until before ``end``. ``search`` looks in the name of the user, the
    verb, and the type and the name of the object."""

    start: Moment = Field(description="The start of the time span")
    end: Moment = Field(description="The end of the time span")

    def rows(self) -> QuerySet[AuditEntry]:
        if self.end <= self.start:
            raise unreadable_request([Issue(field="end", details="must be later than start")])
        between = AuditEntry.objects.filter(at__gte=self.start, at__lt=self.end)
        rows = filter_queryset(between.annotate(action=ACTION), self.filter_by, FIELDS)
        return rows.filter(matching_entries(self.search)) if self.search else rows


class AuditListing(AuditTime, SortParameters):
    sort_by: SortBy = "timestamp"
    sort_order: SortOrder = "desc"
    offset: int = Field(default=0, ge=0, description="How many entries to skip")
    number_of_samples: int = Field(
        default=50, ge=1, le=500, description="The most entries in the answer"
    )
    limit: int | None = Field(
        default=None, ge=1, le=PAGE_LIMIT, description="Another name for numberOfSamples"
    )


class AuditFile(AuditTime):
    file_type: Literal["csv", "json"] = Field(default="json", description="csv or json")
    number_of_samples: int = Field(
        default=LARGEST_FILE, ge=1, le=LARGEST_FILE, description="The most entries in the file"
    )


@router.get("/audit/log", response=AuditLogList)
def list_audit_log(request: ApiRequest, listing: Query[AuditListing]) -> AuditLogList:
    """Who did what between two times, newest first."""
    access.require(request.user, "audit.read")
    rows = listing.rows()
    start = min(listing.offset, LAST_OFFSET)
    end = start + (listing.limit or listing.number_of_samples)
    total = rows.count()
    page = sort_queryset(rows, listing, FIELDS)[start:end]
    return AuditLogList(
        total=total,
        next=end if end < total else None,
        audit_logs=[AuditLogOut.of(entry) for entry in page],
    )


@router.get("/audit/log/file")
def download_audit_log(request: ApiRequest, query: Query[AuditFile]) -> HttpResponse:
    """The audit log between two times as a JSON or CSV file, newest first."""
    access.require(request.user, "audit.read")
    rows = query.rows()[: query.number_of_samples]
    if query.file_type == "json":
        entries = [AuditLogOut.of(row).model_dump() for row in rows]
        return JsonResponse(entries, NinjaJSONEncoder, safe=False)
    text = "".join(map(line_writer(), _csv_rows(rows)))
    return HttpResponse(text, content_type="text/csv; charset=utf-8")


def _csv_rows(rows: QuerySet[AuditEntry]) -> Iterator[tuple[str, ...]]:
    yield COLUMNS
    for row in rows:
        values = AuditLogOut.of(row).model_dump(mode="json")
        yield tuple(str(values[name]) for name in COLUMNS)
