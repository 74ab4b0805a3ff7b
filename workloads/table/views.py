"""The workloads table with its rows, filters, saved views and CSV."""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts.http import Request
from core.web.http import render_partial
from core.web.query import uuids
from projects.models import Project
from workloads.models import SavedView, Workload
from workloads.table import export
from workloads.table.columns import BY_KEY, COLUMNS, Column
from workloads.table.filters import OPERATORS
from workloads.table.page import PAGE_SIZE, page_of, present_rows, rows_among
from workloads.table.presets import presets
from workloads.table.state import TableState
from workloads.wizard import drafts

FILTERABLE = tuple(column for column in COLUMNS if column.filters)
LONGEST_QUERY = 2000
LISTED = 8  # of each kind in the palette
UNCOMMITTED = timedelta(seconds=5)  # for which a new workload may be dated and not yet be there


@login_required
@require_safe
def workload_list(request: Request) -> HttpResponse:
    as_of = timezone.now()
    state = TableState.parse(request.GET)
    address = state.address(reverse("workload-list"))
    context = {
        "state": state,
        "as_of": as_of,
        "page": page_of(state, request.user),
        "address": address,
        "columns": COLUMNS,
        "presets": presets(state, request.user),
        "views": SavedView.objects.filter(owner=request.user),
        "drafts": drafts.unfinished(request.user),
        **_filter_form(request.GET.get("fc", "")),
    }
    response = render_partial(request, "workloads/list.html", "table", context)
    if request.htmx and address != _address_now(request):
        response["HX-Push-Url"] = address  # the filter form's three fields became one
    response["Vary"] = "HX-Request"
    return response


@login_required
@require_safe
def workload_rows(request: Request) -> HttpResponse:
    """Rows by id, as they stand now: ``ids`` are on the page, ``new`` were made since. Whoever did
    not hear of new ones says ``since`` when.

    A row on the page stays there when the filter lets it go; a new one must pass the filter.
    """
    as_of = timezone.now()
    state, asked = TableState.parse(request.GET), request.GET
    ids, newer = _ids(asked.get("ids", "")), _since(_ids(asked.get("new", "")), asked.get("since"))
    context: dict[str, Any] = {"as_of": as_of, "rows": [], "new_rows": []}
    if ids:
        present = present_rows(ids, state.columns, request.user, deleted=state.deleted)
        context["rows"] = present
    if newer:
        passing = state.rows(request.user).filter(newer).order_by("-created_at", "-id")
        newest = rows_among(passing[: 2 * PAGE_SIZE], state.columns, request.user)
        context["new_rows"] = newest[::-1]
    # Without context processors: each of them takes longer than a row.
    return HttpResponse(render_to_string("workloads/_rows.html", context))


@login_required
@require_safe
def filter_form(request: Request) -> HttpResponse:
    """Operators and values that suit the chosen column."""
    context = _filter_form(request.GET.get("fc", ""))
    return render(request, "workloads/_filter_fields.html", context)


@login_required
@require_safe
def palette(request: Request) -> HttpResponse:
    """Workloads, the newest first, and projects that have a text in their name."""
    text = request.GET.get("q", "").strip()
    workloads = Workload.objects.visible_to(request.user).select_related("project")
    projects = Project.objects.visible_to(request.user)
    context = {
        "workloads": workloads.named(text)[:LISTED],
        "projects": projects.named(text)[:LISTED],
    }
    return render(request, "workloads/_palette.html", context if text else {})


async def workload_csv(request: Request) -> HttpResponse | StreamingHttpResponse:
    user = await request.auser()
    if not user.is_authenticated:
        return redirect(f"{reverse('account_login')}?next={request.path}")
    state = await sync_to_async(TableState.parse)(request.GET)
    response = StreamingHttpResponse(export.lines(state, user), content_type="text/csv")
    name = f"workloads-{timezone.now():%Y%m%d-%H%M%S}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@login_required
@require_POST
def save_view(request: Request) -> HttpResponse:
    """Keep the address's query string under a name; the same name again replaces it."""
    name, query = request.POST.get("name", "").strip(), request.POST.get("query", "")
    address = f"{reverse('workload-list')}?{query}" if query else reverse("workload-list")
    if not name or len(name) > 63 or len(query) > LONGEST_QUERY:
        messages.error(request, "Give the view a name of at most 63 characters.")
        return redirect(address)
    SavedView.objects.update_or_create(owner=request.user, name=name, defaults={"query": query})
    messages.success(request, f"Saved the view {name}.")
    return redirect(address)


@login_required
@require_POST
def delete_view(request: Request, pk: int) -> HttpResponse:
    view = get_object_or_404(SavedView, pk=pk, owner=request.user)
    view.delete()
    messages.success(request, f"Deleted the view {view.name}.")
    return redirect("workload-list")


def _filter_form(key: str) -> dict[str, object]:
    column: Column = BY_KEY.get(key) or BY_KEY["status"]
    if not column.filters:
        column = BY_KEY["status"]
    return {
        "filterable": FILTERABLE,
        "filter_column": column,
        "filter_open": bool(key),
        "operators": OPERATORS[column.kind].items(),
    }


def _address_now(request: Request) -> str:
    """Of the table that the page shows, a drawer beside it aside."""
    path, _, query = (request.htmx.current_url_abs_path or "").partition("?")
    return TableState.parse(QueryDict(query)).address(path)


def _since(new: list[UUID], since: str | None) -> Q:
    """What came to be since a moment, or has one of these ids; nothing where neither is given."""
    named = Q(pk__in=new) if new else Q()
    moment = _moment(since or "")
    return named | Q(created_at__gte=moment - UNCOMMITTED) if moment else named


def _moment(text: str) -> datetime | None:
    with suppress(ValueError):
        moment = datetime.fromisoformat(text)
        return moment if moment.tzinfo else None
    return None


def _ids(text: str) -> list[UUID]:
    """At most two pages of ids."""
    return uuids(text.split(",")[: 2 * PAGE_SIZE])
