"""Views of the workloads table: rows, filters, saved views, CSV file and command palette."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
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
from accounts.models import User
from core.text import in_utc
from core.web.http import render_partial
from core.web.query import parse_uuids
from core.web.sheets import line_writer
from projects.models import Project
from spec.phases import NEEDS_ATTENTION, STARTED, WAITING, Phase
from workloads.models import SavedView, Workload
from workloads.table.columns import BY_KEY, COLUMNS, Column
from workloads.table.filters import OPERATORS, OR, Filter
from workloads.table.page import read_page, read_visible_rows, rows_from_query, select_row_fields
from workloads.table.state import TableState
from workloads.wizard import drafts

FILTER_COLUMNS = tuple(column for column in COLUMNS if column.can_filter_by)
LONGEST_QUERY = 2000
MOST_REQUESTED = 100  # rows that a page asks for at once, as MOST in table.js says
MOST_IN_PALETTE = 8  # workloads, and projects, in the palette
CHUNK_SIZE = 500  # rows of the CSV file that are read at once
#: The phases of the filters that are one click away.
PRESETS = {"Queued": WAITING, "Running": STARTED, "Needs attention": NEEDS_ATTENTION}
COMMIT_DELAY = timedelta(seconds=5)  # a workload may be committed this long after its creation time


@dataclass(frozen=True)
class Preset:
    """A preset: its state, and whether the table is in that state now."""

    label: str
    state: TableState
    is_current: bool


def build_presets(state: TableState, user: User | None = None) -> list[Preset]:
    """Return presets for all workloads, the user's own, some groups of phases, and deleted ones.

    Each preset keeps the search. A preset also keeps order and columns, unless it leads from the
    deleted workloads to the others, or back.
    """
    choices: dict[str, tuple[Filter, ...]] = {"All": ()}
    if user:
        choices["Mine"] = (Filter("creator", "is", user.username),)
    choices |= {
        label: (Filter("status", "is", OR.join(filter(phases.__contains__, Phase))),)
        for label, phases in PRESETS.items()
    }
    there = state.switch_to(deleted=False)
    deleted = state.switch_to(deleted=True)
    return [
        *(
            Preset(
                label,
                there.with_changes(filters=filters),
                state == there and state.filters == filters,
            )
            for label, filters in choices.items()
        ),
        Preset("Deleted", deleted.with_changes(filters=()), state.deleted and not state.filters),
    ]


@login_required
@require_safe
def workload_list(request: Request) -> HttpResponse:
    as_of = timezone.now()
    state = TableState.parse(request.GET)
    address = state.address(reverse("workload-list"))
    context = {
        "state": state,
        "as_of": as_of,
        "page": read_page(state, request.user),
        "address": address,
        "columns": COLUMNS,
        "presets": build_presets(state, request.user),
        "views": SavedView.objects.filter(owner=request.user),
        "drafts": drafts.unfinished_drafts(request.user),
        **_filter_form_context(request.GET.get("fc", "")),
    }
    response = render_partial(request, "workloads/list.html", "table", context)
    if request.htmx and address != _current_address(request):
        response["HX-Push-Url"] = address  # without the three fields of the filter form
    response["Vary"] = "HX-Request"
    return response


@login_required
@require_safe
def workload_rows(request: Request) -> HttpResponse:
    """Render the current rows of workloads by id: those in ``ids`` are on the page already, those
    in ``new`` have been created since. A page that may have missed messages about new workloads
    asks with ``since`` for those created after that time.

    A row on the page stays even if it no longer matches the filters; a new one has to match them.
    """
    as_of = timezone.now()
    state = TableState.parse(request.GET)
    asked = request.GET
    ids = _parse_ids(asked.get("ids", ""))
    newer = _new_workloads_condition(_parse_ids(asked.get("new", "")), asked.get("since"))
    context: dict[str, Any] = {"as_of": as_of, "rows": [], "new_rows": []}
    if ids:
        present = read_visible_rows(ids, state.columns, request.user, deleted=state.deleted)
        context["rows"] = present
    if newer:
        passing = state.workloads(request.user).filter(newer).order_by("-created_at", "-id")
        newest = rows_from_query(passing[:MOST_REQUESTED], state.columns, request.user)
        context["new_rows"] = newest[::-1]
    # Without context processors: each of them takes longer than a row.
    return HttpResponse(render_to_string("workloads/_rows.html", context))


@login_required
@require_safe
def filter_form(request: Request) -> HttpResponse:
    """Render the filter form with the operators and values of the chosen column."""
    context = _filter_form_context(request.GET.get("fc", ""))
    return render(request, "workloads/_filter_fields.html", context)


@login_required
@require_safe
def palette(request: Request) -> HttpResponse:
    """Render the workloads, newest first, and the projects that have ``?q=`` in their name."""
    text = request.GET.get("q", "").strip()
    workloads = Workload.objects.visible_to(request.user).select_related("project")
    projects = Project.objects.visible_to(request.user)
    context = {
        "workloads": workloads.named(text)[:MOST_IN_PALETTE],
        "projects": projects.search(text)[:MOST_IN_PALETTE],
    }
    return render(request, "workloads/_palette.html", context if text else {})


async def workload_csv(request: Request) -> HttpResponse | StreamingHttpResponse:
    """Stream the table as a CSV file. Without a session, redirect to the sign-in page."""
    user = await request.auser()
    if not user.is_authenticated:
        return redirect(f"{reverse('account_login')}?next={request.path}")
    state = await sync_to_async(TableState.parse)(request.GET)
    response = StreamingHttpResponse(_csv_lines(state, user), content_type="text/csv")
    name = f"workloads-{timezone.now():%Y%m%d-%H%M%S}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


async def _csv_lines(state: TableState, user: User) -> AsyncIterator[str]:
    """Yield the header line, then all rows that match the filters, in the order of the table."""
    write = line_writer()
    yield write(column.label for column in state.columns)
    workloads = await sync_to_async(_rows_to_export)(state, user)
    while chunk := await sync_to_async(_next_chunk)(workloads, state.columns, write):
        yield chunk


def _rows_to_export(state: TableState, user: User) -> Iterator[Workload]:
    ordered = select_row_fields(state.workloads(user), state.columns).order_by(*state.key.order)
    return ordered.iterator(chunk_size=CHUNK_SIZE)


def _next_chunk(
    workloads: Iterator[Workload],
    columns: Iterable[Column],
    write: Callable[[Iterable[str]], str],
) -> str:
    return "".join(
        write(column.text(workload) for column in columns)
        for workload in islice(workloads, CHUNK_SIZE)
    )


@login_required
@require_POST
def save_view(request: Request) -> HttpResponse:
    """Save the table's query string under a name, replacing a view that has that name already."""
    name = request.POST.get("name", "").strip()
    query = request.POST.get("query", "")
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


def _filter_form_context(key: str) -> dict[str, object]:
    column: Column = BY_KEY.get(key) or BY_KEY["status"]
    if not column.can_filter_by:
        column = BY_KEY["status"]
    return {
        "filterable": FILTER_COLUMNS,
        "filter_column": column,
        "filter_open": bool(key),
        "operators": OPERATORS[column.kind].items(),
    }


def _current_address(request: Request) -> str:
    """Return the address of the table that the page shows, even with a drawer open next to it."""
    path, _, query = (request.htmx.current_url_abs_path or "").partition("?")
    return TableState.parse(QueryDict(query)).address(path)


def _new_workloads_condition(new: list[UUID], since: str | None) -> Q:
    """Return the condition that a workload was created since a time, or has one of these ids. The
    condition is empty without both."""
    named = Q(pk__in=new) if new else Q()
    moment = _parse_since(since or "")
    return named | Q(created_at__gte=moment) if moment else named


def _parse_since(text: str) -> datetime | None:
    """Parse a time, and subtract the longest time from creation to commit: a workload created
    earlier may appear only now. Returns ``None`` for anything but a time with a zone."""
    with suppress(ValueError, OverflowError):
        moment = datetime.fromisoformat(text)
        return in_utc(moment) - COMMIT_DELAY if moment.tzinfo else None
    return None


def _parse_ids(text: str) -> list[UUID]:
    """Parse a list of ids separated by commas, at most ``MOST_REQUESTED`` of them."""
    return parse_uuids(text.split(",")[:MOST_REQUESTED])
