"""Act on workloads from the pages: on one, or on several at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, PermissionDenied
from django.db import transaction
from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import trigger_client_event

from accounts.http import Request
from accounts.models import User
from core.text import text_fault
from core.web.http import redirect_after_success, render_partial
from core.web.query import parse_number, parse_uuids
from workloads import services
from workloads.http import find_with_deleted, find_workload
from workloads.models import Workload, WorkloadQuerySet
from workloads.services import MOST_AT_ONCE
from workloads.table.page import MOST_COUNTED
from workloads.table.state import TableState
from workloads.wizard import repairs

get_or_post = require_http_methods(["GET", "HEAD", "POST"])
MOST_ANNOUNCED = 50  # names of changed workloads in the header of an answer


class ActOnAll(Protocol):
    """Acts on many workloads, and returns why some are refused."""

    def __call__(self, workloads: Sequence[Workload], /, *, by: User) -> services.Refusals: ...


@dataclass(frozen=True)
class Verb:
    """An action. ``promise`` tells people what it will do, ``done_text`` what they requested."""

    name: str
    label: str
    act_on_all: ActOnAll
    promise: str
    done_text: str


STOP = Verb(
    "stop",
    "Stop",
    services.stop_all,
    "Every rank gets its grace period to save and then ends. Definition, logs, checkpoints and "
    "persistent volumes are kept; Run starts it again.",
    "Stopping",
)
RUN = Verb(
    "run",
    "Run",
    services.resume_all,
    "The same definition starts again as the next run, with its persistent volumes. A training "
    "continues from its last checkpoint if it supports that.",
    "Starting",
)
DELETE = Verb(
    "delete",
    "Delete",
    services.delete_all,
    "It ends if it still runs, and its checkpoints and the volumes made for it alone are deleted.",
    "Deleting",
)
VERBS = {verb.name: verb for verb in (STOP, RUN, DELETE)}


@login_required
@require_safe
def menu(request: Request, pk: UUID) -> HttpResponse:
    """Render the entries of a row's menu. The page fetches them when the menu opens, because fifty
    menus would slow it."""
    context = {"workload": find_with_deleted(request, pk), "css": "dropdown-item"}
    return render(request, "workloads/_actions.html", context)


@login_required
@get_or_post
def act(request: Request, pk: UUID, verb: Verb) -> HttpResponse:
    """Ask whether to apply an action to a workload, or apply it. ``verb`` comes from the route."""
    workload = find_workload(request, pk)
    sentences = [verb.promise]
    if verb is not RUN:
        sentences.append(workload.risk_sentence)
    if verb is DELETE:
        sentences.append(workload.retention_sentence)
    promise = " ".join(filter(None, sentences))
    label = "Run again" if verb is RUN and workload.has_ended else verb.label
    context = {"workload": workload, "label": label, "promise": promise}
    if request.method != "POST":
        return render(request, "workloads/confirm.html", context)
    refusals = verb.act_on_all([workload], by=request.user)
    problem = refusals.get(workload.pk)
    if isinstance(problem, PermissionDenied):
        raise problem
    if problem and request.htmx:
        messages.warning(request, str(problem))
        return _announce_change(HttpResponse(status=409), workload)
    if problem:
        return render(request, "workloads/confirm.html", context | {"problem": problem}, status=409)
    messages.success(request, f"{verb.done_text} {workload.name}.")
    current_path = request.htmx.current_url_abs_path or ""
    deletes_its_page = verb is DELETE and current_path.startswith(workload.get_absolute_url())
    if request.htmx and not deletes_its_page:
        return _announce_change(HttpResponse(status=204), workload)
    if verb is DELETE:
        return redirect_after_success(request, reverse("workload-list"))
    return redirect_after_success(request, workload.get_absolute_url())


@login_required
@get_or_post
def copy(request: Request, pk: UUID) -> HttpResponse:
    """Copy the workload's answers into a new draft and open it in the wizard. A deleted workload is
    restored in this way. ``change`` names a repair that is applied to the copy."""
    workload = find_with_deleted(request, pk)
    if request.method != "POST":
        name = "the same name if it is free" if workload.deleted_at else "a new name"
        promise = f"The wizard opens a new draft with the same settings and {name}."
        label = "Restore as a copy" if workload.deleted_at else "Copy & edit"
        context = {"workload": workload, "label": label, "promise": promise}
        return render(request, "workloads/confirm.html", context)
    with transaction.atomic():
        draft = services.copy(workload, by=request.user)
        if change := request.POST.get("change"):
            repairs.apply_to_draft(draft, change, by=request.user)
    return redirect_after_success(request, draft.get_absolute_url())


@login_required
@get_or_post
def extend(request: Request, pk: UUID) -> HttpResponse:
    """Ask whether to extend the limits that the workload has from scheduling rules, or do it."""
    workload = find_workload(request, pk)
    promise = "The limits of its scheduling rules are extended. This is possible once."
    context = {"workload": workload, "label": "Extend", "promise": promise}
    if request.method != "POST":
        return render(request, "workloads/confirm.html", context)
    try:
        services.extend(workload, by=request.user)
    except services.NotPossible as problem:
        if request.htmx:
            messages.warning(request, str(problem))
            return _announce_change(HttpResponse(status=409), workload)
        context["problem"] = str(problem)
        return render(request, "workloads/confirm.html", context, status=409)
    messages.success(request, f"Extended the limits of {workload.name}.")
    if request.htmx:
        return _announce_change(HttpResponse(status=204), workload)
    return redirect_after_success(request, workload.get_absolute_url())


@login_required
@get_or_post
def purge(request: Request, pk: UUID) -> HttpResponse:
    """Remove for good everything that is stored of a deleted workload."""
    rows = Workload.objects.deleted_for(request.user).for_list()
    workload = get_object_or_404(rows, pk=pk)
    if request.method != "POST":
        promise = "Its logs, metrics and events are removed now. This cannot be undone."
        context = {"workload": workload, "label": "Delete for good", "promise": promise}
        return render(request, "workloads/confirm.html", context)
    services.purge(workload, by=request.user)
    messages.success(request, f"{workload.name} is deleted for good.")
    return redirect_after_success(request, f"{reverse('workload-list')}?deleted=1")


def _announce_change(response: HttpResponse, workload: Workload) -> HttpResponse:
    """Make the page reload the parts that show the workload, even if its event stream is closed."""
    return trigger_client_event(response, "live-changed", {"value": [f"w-{workload.pk}"]})


@login_required
@require_safe
def matching(request: Request) -> JsonResponse:
    """Return how many workloads match the table's filters now, for the question before an action
    on all of them; or ``refusal``, why there can be no such action."""
    rows = _matching_workloads(request.GET, request.user).order_by().values("pk")
    count = rows[: MOST_COUNTED + 1].count()
    return JsonResponse({"refusal": _too_many_text()} if count > MOST_COUNTED else {"count": count})


@login_required
@require_POST
def bulk(request: Request) -> HttpResponse:
    """Apply an action to every selected workload, and show the outcome of each.

    With ``all``, the workloads that match the table's filters in ``matching`` are looked up again.
    Nothing happens if there are now more than ``agreed``, the number that the user was asked about.
    """
    verb = VERBS.get(request.POST.get("verb", ""))
    if verb is None:
        return HttpResponse("Choose run, stop or delete.", status=400, content_type="text/plain")
    workloads, refusal = _selected_workloads(request.POST, request.user)
    if refusal:
        return _render_refusal(request, verb, refusal)
    refusals = verb.act_on_all(workloads, by=request.user)
    outcomes = [(workload, str(refusals.get(workload.pk, ""))) for workload in workloads]
    outcomes.sort(key=lambda outcome: not outcome[1])  # refusals first: they need attention
    failed_count = sum(bool(problem) for _, problem in outcomes)
    context = {
        "verb": verb,
        "outcomes": outcomes,
        "done": len(outcomes) - failed_count,
        "failed": failed_count,
    }
    response = render_partial(request, "workloads/bulk.html", "outcome", context)
    # Proxies limit the size of headers. The event stream announces the other workloads.
    names = [f"w-{workload.pk}" for workload, _ in outcomes[:MOST_ANNOUNCED]]
    return trigger_client_event(response, "live-changed", {"value": names})


def _selected_workloads(posted: QueryDict, user: User) -> tuple[list[Workload], str]:
    """Return the workloads to act on, ordered by name, or why there is no action."""
    if not posted.get("all"):
        ids = [*posted.getlist("id"), *filter(None, posted.get("others", "").split(","))]
        if len(ids) > MOST_AT_ONCE:
            return [], f"Select at most {MOST_AT_ONCE} workloads, or all that match."
        rows = Workload.objects.visible_to(user).for_list()
        return list(rows.filter(pk__in=parse_uuids(ids)).order_by("name")), ""
    agreed = parse_number(posted.get("agreed", "")) or 0
    query = QueryDict(posted.get("matching", ""))
    if any(text_fault(value) for values in query.lists() for value in values[1]):
        raise BadRequest("The filters hold a character that no text of ours does.")
    matches = list(_matching_workloads(query, user)[: MOST_COUNTED + 1])
    if len(matches) > MOST_COUNTED:
        return [], _too_many_text()
    if len(matches) > agreed:
        now = f"{len(matches):,} workload{'' if len(matches) == 1 else 's'}"
        return [], f"Of {now} that match by now, {agreed:,} were asked about. Select them again."
    return matches, "" if matches else "None match any more."


def _too_many_text() -> str:
    return f"More than {MOST_COUNTED:,} workloads match. Add a filter first."


def _matching_workloads(query: QueryDict, user: User) -> WorkloadQuerySet:
    """Return the workloads that match a table's search and filters, ordered by name. A table of
    deleted workloads has none, because no action applies to them."""
    state = TableState.parse(query)
    rows = Workload.objects.none() if state.deleted else state.workloads(user)
    return rows.for_list().order_by("name", "pk")


def _render_refusal(request: Request, verb: Verb, refusal: str) -> HttpResponse:
    """Say why nothing was done: in the drawer, or on a page."""
    context = {"verb": verb, "refusal": refusal}
    status = 200 if request.htmx else 400  # htmx swaps no other
    return render_partial(request, "workloads/bulk.html", "outcome", context, status=status)
