"""Show a draft as YAML, to copy the text, or to change it and fill in the form from it."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.http import Request
from core.web.query import parse_number
from spec.formats.lines import LineProblem, YamlError
from workloads.models import Draft
from workloads.plan import plan
from workloads.wizard import as_yaml, drafts
from workloads.wizard.pages.outputs import SUBMISSION, Outputs
from workloads.wizard.pages.page import nav_route
from workloads.wizard.pages.steps import all_problems

OVERTAKEN = (
    "This draft was changed in another tab or window. Your text was not used; apply it again."
)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def draft_yaml(request: Request, pk: UUID) -> HttpResponse:
    """Show the draft as YAML. A POST fills in the form from the text, or says which line is
    wrong."""
    draft = get_object_or_404(Draft.objects.visible_to(request.user), pk=pk)
    if request.method != "POST":
        return _render_page(request, draft, as_yaml.write_yaml(draft.content, request.user))
    text = as_yaml.read_posted_text(request)
    version = parse_number(request.POST.get("version", ""))
    try:
        notes = as_yaml.fill_from_yaml(draft, text, by=request.user, version=version)
    except YamlError as error:
        return _render_page(request, draft, text, problems=error.problems, status=422)
    except drafts.DraftOvertaken:
        draft.refresh_from_db()
        return _render_page(request, draft, text, problems=(LineProblem(0, OVERTAKEN),), status=409)
    messages.success(request, "The form was filled in from the YAML.")
    for note in notes:
        messages.warning(request, note)
    page = as_yaml.first_page_with_problem(plan(draft.content, by=request.user))
    return redirect("draft-step", draft.pk, page)


def _render_page(
    request: Request,
    draft: Draft,
    text: str,
    *,
    problems: tuple[LineProblem, ...] = (),
    status: int = 200,
) -> HttpResponse:
    planned = plan(draft.content, by=request.user)
    context = {
        "draft": draft,
        "text": text,
        "problems": problems,
        "first_bad_line": next((problem.line for problem in problems if problem.line), 0),
        "outputs": Outputs(planned, request.build_absolute_uri(SUBMISSION)),
        "manifest": as_yaml.render_manifest(planned, request.user),
        "open_problems": all_problems(draft, planned),
        "nav_route": nav_route(planned.draft),
    }
    return render(request, "workloads/wizard/yaml.html", context, status=status)
