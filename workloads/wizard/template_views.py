"""Save the values of a draft or a workload as a new template, or update the template that it began
from."""

from collections.abc import Callable
from functools import partial
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_http_methods
from django_htmx.http import trigger_client_event

from accounts.http import Request
from assets import services as assets
from assets.models import Template
from assets.template.form import TemplateForm
from assets.template.kind import TEMPLATE
from core.web.http import redirect_after_success, render_partial
from projects.models import Project
from projects.scopes import OwningScope
from spec.draft import WorkloadDraft
from spec.problems.errors import SpecError
from workloads import services
from workloads.models import Draft, Workload

Respond = Callable[[Request, str], HttpResponse]
form_methods = require_http_methods(["GET", "HEAD", "POST"])


@form_methods
@login_required
def draft_template(request: Request, pk: UUID) -> HttpResponse:
    """Save a draft as a template, or update the template that it began from."""
    draft = get_object_or_404(Draft.objects.visible_to(request.user), pk=pk)
    if draft.edits and request.POST.get("action") == "update":
        return _update_and_discard(request, draft, draft.edits)
    content = draft.content
    back = draft.get_absolute_url()
    done = partial(_discard_draft, draft) if content.is_template else _return_to
    return _save_template(request, content, str(content.name), back, done)


@form_methods
@login_required
def workload_template(request: Request, pk: UUID) -> HttpResponse:
    """Save a workload's values as a template, or update the template that it began from."""
    workload = get_object_or_404(Workload.objects.visible_to(request.user), pk=pk)
    content = WorkloadDraft.model_validate(workload.draft_json)
    return _save_template(request, content, workload.name, workload.get_absolute_url(), _return_to)


def _save_template(
    request: Request, content: WorkloadDraft, name: str, back: str, done: Respond
) -> HttpResponse:
    if request.POST.get("action") == "update":
        return _update_origin(request, content, back)
    assets.check_creatable(TEMPLATE, request.user)
    visible = Project.objects.visible_to(request.user).for_list()
    project = visible.filter(pk=content.project).first() if content.project else None
    form = TemplateForm(
        request.POST if request.method == "POST" else None,
        user=request.user,
        scope=OwningScope(project) if project else None,
        initial={"name": name},
    )
    if request.method == "POST" and form.is_valid():
        try:
            template = services.save_template(
                content,
                name=form.name,
                description=form.description,
                place=form.scope,
                by=request.user,
            )
        except SpecError as error:
            form.add_verdict(error)
        else:
            messages.success(request, f"The template {template.name} was saved.")
            return done(request, back)
    context = {
        "form": form,
        "back": back,
        "origin": _find_origin(request, content),
        "in_drawer": request.htmx.target == "drawer",
    }
    status = 422 if request.method == "POST" else 200
    page = "workloads/wizard/save_template.html"
    return render_partial(request, page, "form", context, status=status)


def _find_origin(request: Request, content: WorkloadDraft) -> Template | None:
    """Return the template that the draft began from, if the user may change it."""
    if content.template is None:
        return None
    return TEMPLATE.rows.editable_by(request.user).filter(pk=content.template).first()


def _update_and_discard(request: Request, draft: Draft, template: Template) -> HttpResponse:
    """Update the template that a draft was opened to change, and discard the draft. If the template
    does not accept it, the draft stays."""
    if not _try_update(request, template, draft.content):
        return _return_to(request, draft.get_absolute_url())
    return _discard_draft(draft, request)


def _discard_draft(draft: Draft, request: Request, back: str = "") -> HttpResponse:
    """Discard a draft that has become a template, and open the list of templates."""
    draft.delete()
    return redirect_after_success(request, reverse("template-list"))


def _update_origin(request: Request, content: WorkloadDraft, back: str) -> HttpResponse:
    """Update the template that the draft began from with the draft's values."""
    visible = Template.objects.visible_to(request.user)
    _try_update(request, get_object_or_404(visible, pk=content.template), content)
    return _return_to(request, back)


def _try_update(request: Request, template: Template, content: WorkloadDraft) -> bool:
    """Update the template and report the outcome; ``False`` if it was refused."""
    try:
        services.update_template(template, content, by=request.user)
    except SpecError as error:
        messages.error(request, f"The template {template.name} was not updated: {error}.")
        return False
    messages.success(request, f"The template {template.name} was updated.")
    return True


def _return_to(request: Request, back: str) -> HttpResponse:
    if not request.htmx:
        return redirect_after_success(request, back)
    return trigger_client_event(HttpResponse(status=204), "drawer-close", {})
