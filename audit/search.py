"""Find entries of the audit log. It grows without limit, so one answer searches a part of it, and
the next answer continues from there."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from django.db.models import Q
from django.http import QueryDict
from django.utils.dateparse import parse_date

from audit.models import AuditEntry
from audit.words import COMMAND_LINE, KINDS, VERBS
from core.web.query import parse_number, search_text

PAGE_SIZE = 50
PART_SIZE = 100_000  # entries that one answer searches
MOST_OUT_OF_ORDER = 1_000  # ids by which entries may differ from the order of their times


def matching_entries(text: str) -> Q:
    """Return a filter for entries with ``text`` in the user, the verb, or the kind or name of the
    object."""
    user = Q(by_name__icontains=text)
    verb = Q(verb__icontains=text)
    if text.casefold() in COMMAND_LINE.casefold():
        user |= Q(by_name="")
    return user | verb | Q(target_kind__icontains=text) | Q(target_name__icontains=text)


@dataclass(frozen=True)
class AuditFilter:
    """The filter of the page. ``since`` and ``until`` are days in UTC, both included. ``before`` is
    the id of the last entry of the previous page."""

    text: str = ""
    verb: str = ""
    kind: str = ""
    since: str = ""
    until: str = ""
    before: int | None = None

    @classmethod
    def of(cls, query: QueryDict) -> "AuditFilter":
        """Return the filter in an address. Unknown words and days that do not exist are left
        out."""
        verb = query.get("verb", "")
        kind = query.get("kind", "")
        return cls(
            text=search_text(query),
            verb=verb if verb in VERBS else "",
            kind=kind if kind in KINDS else "",
            since=query.get("since", "") if _day(query.get("since", "")) else "",
            until=query.get("until", "") if _day(query.get("until", "")) else "",
            before=parse_number(query.get("before", "")),
        )

    @property
    def is_narrowing(self) -> bool:
        return bool(self.text or self.verb or self.kind or self.since or self.until)

    @property
    def query(self) -> str:
        names: dict[str, object] = {"q": self.text, "verb": self.verb, "kind": self.kind}
        names |= {"since": self.since, "until": self.until, "before": self.before}
        return urlencode({name: value for name, value in names.items() if value})

    @property
    def newest(self) -> "AuditFilter":
        """The same filter, beginning with the newest entry."""
        return replace(self, before=None)

    @property
    def start(self) -> datetime | None:
        return _day(self.since)

    @property
    def end(self) -> datetime | None:
        day = _day(self.until)
        return day + timedelta(days=1) if day else None

    def conditions(self) -> Iterator[Q]:
        if self.text:
            yield matching_entries(self.text)
        if self.verb:
            yield Q(verb=self.verb)
        if self.kind:
            yield Q(target_kind=self.kind)
        if self.start:
            yield Q(at__gte=self.start)
        if self.end:
            yield Q(at__lt=self.end)


@dataclass(frozen=True)
class AuditPart:
    """Entries, newest first. ``older`` is the filter for the next page; ``None`` if there is none.
    If the search stopped before a page was full, ``is_searching`` is true, and ``back_to`` is the
    time up to which it searched."""

    entries: list[AuditEntry]
    older: AuditFilter | None = None
    is_searching: bool = False
    back_to: datetime | None = None


def find_part(audit_filter: AuditFilter) -> AuditPart:
    """Return a page of entries, or all that match among the next ``PART_SIZE``."""
    entries = AuditEntry.objects.all()
    lowest, end = _id_range(audit_filter)
    floor = max(lowest, end - PART_SIZE)
    matches = entries.filter(*audit_filter.conditions(), pk__gte=floor, pk__lt=end)
    rows = list(matches[: PAGE_SIZE + 1])
    if len(rows) > PAGE_SIZE:
        return AuditPart(rows[:PAGE_SIZE], replace(audit_filter, before=rows[PAGE_SIZE - 1].pk))
    if floor <= lowest:
        return AuditPart(rows)
    back_to = entries.filter(pk__gte=floor).order_by("pk").values_list("at", flat=True).first()
    older = replace(audit_filter, before=floor)
    return AuditPart(rows, older, is_searching=True, back_to=back_to)


def _id_range(audit_filter: AuditFilter) -> tuple[int, int]:
    """Return the range of ids that contains all matching entries: the lowest id, and the highest
    plus one."""
    entries = AuditEntry.objects.order_by()
    ids = entries.values_list("pk", flat=True)
    lowest = ids.order_by("pk").first() or 1
    end = (ids.order_by("-pk").first() or 0) + 1
    # Concurrent transactions may store entries in another order than that of their times, so the
    # range is wider at both ends. The conditions on the time then select the entries.
    if audit_filter.start:
        first = ids.filter(at__gte=audit_filter.start).order_by("at", "pk").first()
        lowest = max(lowest, (end if first is None else first) - MOST_OUT_OF_ORDER)
    if audit_filter.end:
        last = ids.filter(at__lt=audit_filter.end).order_by("-at", "-pk").first()
        end = min(end, (last or 0) + 1 + MOST_OUT_OF_ORDER)
    return lowest, min(end, audit_filter.before or end)


def _day(text: str) -> datetime | None:
    try:
        day = parse_date(text)
    except ValueError:  # such as the 31st of February
        return None
    return datetime(day.year, day.month, day.day, tzinfo=UTC) if day else None
