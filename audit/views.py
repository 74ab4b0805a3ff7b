"""The page of the audit log. ``accounts/urls.py`` has its URL and checks the permission, because
this package cannot import ``accounts``."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit.models import AuditEntry
from audit.search import AuditFilter, find_part
from audit.words import KINDS, VERBS
from core.web.http import HtmxRequest, render_partial
from core.web.query import parse_number

OLDER_PART = "older"  # the element of the page in which a search continues
#: The words in names of columns that are written in capitals.
CAPITALS = {"api", "cpu", "gid", "gpu", "gpus", "id", "ip", "nfs", "ssh", "uid", "uids", "url"}


@require_safe
def listing(request: HtmxRequest) -> HttpResponse:
    audit_filter = AuditFilter.of(request.GET)
    part = find_part(audit_filter)
    rows = [(entry, list(changes(entry))) for entry in part.entries]
    earlier_count = (
        parse_number(request.GET.get("shown", "")) or 0
    )  # rows that the page has already
    count = earlier_count + len(rows)
    total = "1 entry" if count == 1 else f"{count} entries"
    context = {
        "filter": audit_filter,
        "part": part,
        "rows": rows,
        "verbs": VERBS,
        "kinds": KINDS,
        "shown": count,
        "announcement": "Searching…" if part.is_searching else total,
    }
    if request.htmx.target == OLDER_PART:
        return render(request, "audit/_entries.html", context)
    return render_partial(request, "audit/entries.html", "rows", context)


@dataclass(frozen=True)
class FieldChange:
    """The change of one field. ``was`` or ``now`` is ``None`` if there was or is no value. If the
    object was created or deleted, only one of them is known, and ``is_compared`` is false."""

    name: str
    before: Any
    after: Any
    is_compared: bool

    @property
    def value(self) -> Any:
        """The one value of a field that is not compared."""
        return self.before if self.after is None else self.after


def changes(entry: AuditEntry) -> Iterator[FieldChange]:
    """Yield the change of every field of an entry, in the order in which they were recorded."""
    is_compared = bool(entry.before and entry.after)
    for name in entry.before | entry.after:
        before = entry.before.get(name)
        after = entry.after.get(name)
        yield FieldChange(_field_label(name), before, after, is_compared)


def _field_label(name: str) -> str:
    """Return the name of a column in words. A path in a document stays unchanged."""
    if not name.replace("_", "").isalpha() or not name.islower():
        return name
    words = (word.upper() if word in CAPITALS else word for word in name.split("_"))
    label = " ".join(words)
    return label[0].upper() + label[1:]
