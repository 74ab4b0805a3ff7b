"""Find entries of the audit log. It grows without end, so one answer looks through a part of it,
and the next one continues from there."""

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
PART_SIZE = 100_000  # entries in one answer
MOST_OUT_OF_ORDER = 1_000  # ids between entries of the same moment, at most


def matching_entries(text: str) -> Q:
    """Entries with ``text`` in who did it, what was done, or to what."""
    by_whom = Q(by_name__icontains=text)
    what = Q(verb__icontains=text)
    if text.casefold() in COMMAND_LINE.casefold():
        by_whom |= Q(by_name="")
    return by_whom | what | Q(target_kind__icontains=text) | Q(target_name__icontains=text)


@dataclass(frozen=True)
class AuditFilter:
    """What the page is asked for. ``since`` and ``until`` are days in UTC, both included;
    ``before`` is the id of the entry above."""

    text: str = ""
    verb: str = ""
    kind: str = ""
    since: str = ""
    until: str = ""
    before: int | None = None

    @classmethod
    def of(cls, query: QueryDict) -> "AuditFilter":
        """The filter in an address. Words and days that do not exist are left out."""
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
        """The same from the newest entry on."""
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
    """Entries, newest first. ``older`` asks for those below, if there may be any. If this part
    ended before a page was full, ``is_searching`` is true, and ``back_to`` is how far it looked."""

    entries: list[AuditEntry]
    older: AuditFilter | None = None
    is_searching: bool = False
    back_to: datetime | None = None


def find_part(chosen: AuditFilter) -> AuditPart:
    """A page of entries, or as many as there are among the next ``LOOKED_THROUGH``."""
    entries = AuditEntry.objects.all()
    (lowest, end) = _id_range(chosen)
    floor = max(lowest, end - PART_SIZE)
    rows = list(entries.filter(*chosen.conditions(), pk__gte=floor, pk__lt=end)[: PAGE_SIZE + 1])
    if len(rows) > PAGE_SIZE:
        return AuditPart(rows[:PAGE_SIZE], replace(chosen, before=rows[PAGE_SIZE - 1].pk))
    if floor <= lowest:
        return AuditPart(rows)
    back_to = entries.filter(pk__gte=floor).order_by("pk").values_list("at", flat=True).first()
    return AuditPart(rows, replace(chosen, before=floor), is_searching=True, back_to=back_to)


def _id_range(chosen: AuditFilter) -> tuple[int, int]:
    """The ids between which all entries are that match: the lowest, and one above the highest."""
    entries = AuditEntry.objects.order_by()
    ids = entries.values_list("pk", flat=True)
    lowest = ids.order_by("pk").first() or 1
    end = (ids.order_by("-pk").first() or 0) + 1
    if chosen.start:
        pk = ids.filter(at__gte=chosen.start).order_by("at", "pk").first()
        lowest = max(lowest, (end if pk is None else pk) - MOST_OUT_OF_ORDER)
    if chosen.end:
        pk = ids.filter(at__lt=chosen.end).order_by("-at", "-pk").first()
        end = min(end, (pk or 0) + 1 + MOST_OUT_OF_ORDER)
    return lowest, min(end, chosen.before or end)


def _day(text: str) -> datetime | None:
    try:
        day = parse_date(text)
    except ValueError:  # such as the 31st of February
        return None
    return datetime(day.year, day.month, day.day, tzinfo=UTC) if day else None
