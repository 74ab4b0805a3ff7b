"""The page of the audit log. Its URL is in ``accounts/urls.py``, which also checks the permission,
because accounts use this package and not the other way round."""

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
