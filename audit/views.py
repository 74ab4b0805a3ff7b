"""The page of the audit log. Its URL is in ``accounts/urls.py``, which also checks the permission,
because accounts use this package and not the other way round."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit.changes import changes
from audit.search import AuditFilter, part_of
from audit.words import KINDS, VERBS
from core.web.http import HtmxRequest, render_partial
from core.web.query import whole_number

OLDER = "older"  # the part of the page that a search continues in


@require_safe
def listing(request: HtmxRequest) -> HttpResponse:
    chosen = AuditFilter.of(request.GET)
    part = part_of(chosen)
    rows = [(entry, list(changes(entry))) for entry in part.entries]
    shown = len(rows) + (whole_number(request.GET.get("shown", "")) or 0)  # with those above
    total = "1 entry" if shown == 1 else f"{shown} entries"
    context = {"chosen": chosen, "part": part, "rows": rows, "verbs": VERBS, "kinds": KINDS}
    context |= {"shown": shown, "announcement": "Searching…" if part.is_searching else total}
    if request.htmx.target == OLDER:
        return render(request, "audit/_entries.html", context)
    return render_partial(request, "audit/entries.html", "rows", context)
