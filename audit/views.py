"""The audit log. ``accounts/urls.py`` gives it an address, for whoever may read it: accounts stand
above this package, and write down here what they do."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from audit.changes import changes
from audit.models import AuditEntry
from core.web.http import HtmxRequest, render_partial

ENTRIES_A_PAGE = 50


@require_safe
def listing(request: HtmxRequest) -> HttpResponse:
    page = Paginator(AuditEntry.objects.all(), ENTRIES_A_PAGE).get_page(request.GET.get("page"))
    rows = [(entry, list(changes(entry))) for entry in page]
    return render_partial(request, "audit/entries.html", "rows", {"page": page, "rows": rows})
