"""Views of the New Workload wizard: three pages over one draft, which only its author can open."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.http import Request
from core.web.http import is_visit, redirect_after_success
from core.web.query import search_text
from workloads.models import Draft, Workload
from workloads.plan import plan
from workloads.wizard import actions, drafts
from workloads.wizard.choices import new_assets, people
from workloads.wizard.choices.credentials import Credentials
from workloads.wizard.pages.page import (
    drafts_context,
    gallery_context,
    render_page,
    searchable_inputs,
)
from workloads.wizard.pages.screen import build_screen
from workloads.wizard.sections.base import PAGES, SETUP


@login_required
@never_cache
@require_GET
def workload_new(request: Request) -> HttpResponse:
    """Begin a draft: from scratch, or from ``?template=`` (``&edit`` changes the template itself),
    of a ``?kind=``, in a ``?project=``, with a ``?data-source=`` in a ``?version=``. ``?rules``
    begins a template, ``?yaml`` opens the page on which YAML is pasted.

    ``?copy=`` leads to the question whether to copy a workload.
    """
    if not is_visit(request):
        raise PermissionDenied("Open this page to begin a workload; other pages cannot.")
    query = request.GET
    if "copy" in query:
        workload = drafts.find_copy_source(request.user, query["copy"])
        if workload is None:
            raise Http404("No such workload")
        return redirect("workload-copy", workload.pk)
    draft = drafts.begin(
        request.user,
        template=query.get("template", ""),
        project=query.get("project", ""),
        kind=query.get("kind", ""),
        data_source=query.get("data-source", ""),
        version=query.get("version", ""),
        edits="edit" in query,
        rules="rules" in query,
    )
    if "yaml" in query:
        return redirect("draft-yaml", draft.pk)
    return redirect("draft-step", draft.pk, SETUP)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def draft_step(request: Request, pk: UUID, step: int) -> HttpResponse:
    """Show a page of the wizard. A POST stores what was entered, then does its ``action``."""
    draft = Draft.objects.visible_to(request.user).filter(pk=pk).first()
    if draft is None:
        return _redirect_to_workload(request, pk)
    draft.owner = request.user
    if step not in PAGES:
        raise Http404("No such page")
    try:
        if request.method == "POST":
            return actions.act(request, draft, step)
        if new_assets.choose_created(request, draft, step):
            return redirect("draft-step", draft.pk, step)
    except Draft.DoesNotExist:  # discarded or submitted in another tab just now
        return _redirect_to_workload(request, pk)
    if step != SETUP and draft.content.project is None:
        return redirect("draft-step", draft.pk, SETUP)
    drafts.record_progress(draft, step)
    if draft.fault and not request.htmx:
        messages.warning(request, f"Part of this draft is no longer readable: {draft.fault}.")
    return render_page(request, draft, step)


def _redirect_to_workload(request: Request, pk: UUID) -> HttpResponse:
    """Redirect from a submitted draft to its workload. The draft is opened again by a second click
    or by the back button."""
    workload = get_object_or_404(
        Workload.objects.visible_to(request.user), draft_id=pk, created_by=request.user
    )
    return redirect_after_success(request, workload.get_absolute_url())


@login_required
@never_cache
@require_GET
def draft_gallery(request: Request, pk: UUID, step: int, name: str) -> HttpResponse:
    """Render the cards of one field that match ``?<name>-search=``. ``?all=<name>`` shows all of
    them, not only the first few."""
    draft = get_object_or_404(Draft.objects.visible_to(request.user), pk=pk)
    screen = build_screen(draft, plan(draft.content, by=request.user), step)
    if name not in searchable_inputs(screen):
        raise Http404("No such gallery")
    context = gallery_context(request, screen, name) | {"screen": screen}
    return render(request, "workloads/wizard/_fragment_gallery.html", context)


@login_required
@never_cache
@require_GET
def draft_people(request: Request, pk: UUID) -> HttpResponse:
    """Render suggestions that contain ``?text=``, for a list of ``?of=`` users or groups."""
    draft = get_object_or_404(Draft.objects.visible_to(request.user), pk=pk)
    text = search_text(request.GET, "text")
    names = people.suggest_names(draft, text, of=request.GET.get("of", ""))
    return render(request, "workloads/wizard/_suggestions.html", {"names": names})


@login_required
@never_cache
@require_GET
def draft_credentials(request: Request, pk: UUID) -> HttpResponse:
    """Render the credentials with ``?text=`` in their names, if there are too many for a list."""
    draft = get_object_or_404(Draft.objects.visible_to(request.user), pk=pk)
    planned = plan(draft.content, by=request.user)
    credentials = Credentials(planned.project, planned.cluster, by=request.user)
    pairs = credentials.suggest(search_text(request.GET, "text"))
    return render(request, "workloads/wizard/_suggestions.html", {"pairs": pairs})


@login_required
@require_POST
def draft_discard(request: Request, pk: UUID) -> HttpResponse:
    draft = get_object_or_404(Draft.objects.visible_to(request.user), pk=pk)
    draft.delete()
    if request.htmx:
        return render(request, "workloads/wizard/_drafts.html", drafts_context(request))
    messages.success(request, f"The draft {draft} was discarded.")
    return redirect("workload-list")
