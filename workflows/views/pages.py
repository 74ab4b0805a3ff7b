"""The pages of workflows: the list, one workflow with its tabs, and what can be done with it."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import Request, permission_required
from assets.data_source.datasets.shown import versions_made_by
from core.web.http import redirect_after_success, render_partial
from core.web.pages import deletion_page, question_page
from core.web.query import search_text
from spec.formats.lines import YamlError
from spec.problems.errors import SpecError
from workflows import services
from workflows.imports.templates import parse_settings
from workflows.models import GroupRun, Workflow
from workflows.output import LONGEST_QUERY, LineChoice, last_lines
from workflows.reading import RestartChanges
from workflows.shown import picture_of, show_groups
from workflows.statuses import FAILURES, UNFINISHED, Status
from workflows.texts import mask_secrets, mask_variables
from workloads.services import NotPossible

WORKFLOWS_A_PAGE = 50
CRUMB = "Workflows"
#: The tabs of a workflow: their keys and labels.
TABS = {"graph": "Graph", "logs": "Logs", "report": "Report", "file": "File"}
#: The statuses of the filters that are one click away.
PRESETS = {"running": UNFINISHED, "completed": {Status.COMPLETED}, "failed": FAILURES}
get_or_post = require_http_methods(["GET", "HEAD", "POST"])


@require_safe
@permission_required("workloads.read")
def listing(request: Request) -> HttpResponse:
    text = search_text(request.GET)
    shown = request.GET.get("show", "")
    completed = Count("groups", filter=Q(groups__status=Status.COMPLETED))
    rows = Workflow.objects.visible_to(request.user).for_list()
    rows = rows.annotate(num_groups=Count("groups"), num_completed=completed)
    rows = rows.order_by("-created_at", "-pk")  # aggregation drops the order of the model
    if text:
        rows = rows.filter(
            Q(label__icontains=text)
            | Q(project__name__icontains=text)
            | Q(created_by__username__icontains=text)
        )
    if shown in PRESETS:
        rows = rows.filter(status__in=PRESETS[shown])
    page = Paginator(rows, WORKFLOWS_A_PAGE).get_page(request.GET.get("page"))
    names = " ".join(f"f-{row.pk}" for row in page if not row.is_finished)
    context = {
        "page": page,
        "q": text,
        "show": shown,
        "presets": ("", *PRESETS),
        "live_names": names,
    }
    return render_partial(request, "workflows/list.html", "rows", context)


@require_safe
@permission_required("workloads.read")
def detail(request: Request, pk: UUID, tab: str = "graph") -> HttpResponse:
    """Render a workflow's page with one of its tabs; for htmx only what changes while it runs."""
    workflow = _find_workflow(request, pk)
    runs = workflow.runs()
    context = {
        "workflow": workflow,
        "status": workflow.state,
        "tab": tab,
        "tabs": [(key, label, _tab_address(workflow, key)) for key, label in TABS.items()],
        "live_names": _live_names(workflow, runs, tab),
        **TAB_CONTEXTS[tab](request, workflow, runs),
    }
    if tab == "graph":
        context["versions"] = versions_made_by(workflow.pk, request.user)
    return render_partial(request, "workflows/workflow.html", "state", context)


def _tab_address(workflow: Workflow, tab: str) -> str:
    if tab == "graph":
        return workflow.get_absolute_url()
    return reverse(f"workflow-{tab}", args=[workflow.pk])


def _live_names(workflow: Workflow, runs: list[GroupRun], tab: str) -> str:
    """Return the names of what changes the page: the workflow, its workloads and their output."""
    ids = [run.workload_id for run in runs if run.workload_id]
    names = [f"f-{workflow.pk}", *(f"w-{pk}" for pk in ids)]
    if tab == "logs":
        names += [f"o-{pk}" for pk in ids]
    return " ".join(names)


def _graph_context(request: Request, workflow: Workflow, runs: list[GroupRun]) -> dict[str, Any]:
    groups = show_groups(runs)
    return {"groups": groups, "picture": picture_of(groups)}


def _logs_context(request: Request, workflow: Workflow, runs: list[GroupRun]) -> dict[str, Any]:
    text = search_text(request.GET)[:LONGEST_QUERY]
    return {
        "lines": last_lines(runs, LineChoice(text=text)),
        "started": [run for run in runs if run.workload],
        "q": text,
    }


def _report_context(request: Request, workflow: Workflow, runs: list[GroupRun]) -> dict[str, Any]:
    return {"report": workflow.report_json}


def _file_context(request: Request, workflow: Workflow, runs: list[GroupRun]) -> dict[str, Any]:
    return {
        "original": mask_secrets(workflow.original),
        "rendered": mask_secrets(workflow.rendered),
        "files": workflow.files_json,
        "variables": mask_variables(workflow.variables_json),
    }


TAB_CONTEXTS: dict[str, Callable[[Request, Workflow, list[GroupRun]], dict[str, Any]]] = {
    "graph": _graph_context,
    "logs": _logs_context,
    "report": _report_context,
    "file": _file_context,
}


@get_or_post
@permission_required("workloads.update")
def cancel(request: Request, pk: UUID) -> HttpResponse:
    workflow = _find_workflow(request, pk)
    refusal = ""
    if request.method == "POST":
        try:
            services.cancel(workflow, by=request.user)
        except NotPossible as error:
            refusal = str(error)
        else:
            messages.success(request, f"{workflow} was canceled.")
            return redirect_after_success(request, workflow.get_absolute_url())
    return question_page(
        request,
        title=f"Cancel {workflow}?",
        text="Groups that run get their grace period to save and then end. No other group starts.",
        submit="Cancel workflow",
        crumb=(CRUMB, reverse("workflow-list")),
        back=workflow.get_absolute_url(),
        refusal=refusal,
    )


@get_or_post
@permission_required("workloads.create")
def restart(request: Request, pk: UUID) -> HttpResponse:
    """Ask for the values that change, and restart the workflow with them."""
    workflow = _find_workflow(request, pk)
    faults: list[str] = []
    if request.method == "POST":
        try:
            again = services.restart(workflow, by=request.user, changes=_posted_changes(request))
        except YamlError as error:
            faults = [
                f"Line {it.line}: {it.message}." if it.line else it.message for it in error.problems
            ]
        except SpecError as error:
            faults = [f"{problem.field}: {problem.message}." for problem in error.problems]
        except (NotPossible, ValueError) as error:
            faults = [str(error)]
        else:
            messages.success(request, f"{again} was created.")
            return redirect_after_success(request, again.get_absolute_url())
    context = {
        "workflow": workflow,
        "variables": mask_variables(workflow.variables_json),
        "posted": request.POST,
        "faults": faults,
    }
    return render(request, "workflows/restart.html", context, status=422 if faults else 200)


def _posted_changes(request: Request) -> RestartChanges:
    """Read the form of a restart. ``ValueError`` names a line that is no variable."""
    lines = (line.strip() for line in request.POST.get("variables", "").splitlines())
    variables = parse_settings(line for line in lines if line)
    return RestartChanges(variables, task_size=request.POST.get("size", "").strip())


@get_or_post
@permission_required("workloads.delete")
def delete(request: Request, pk: UUID) -> HttpResponse:
    workflow = _find_workflow(request, pk)
    return deletion_page(
        request,
        workflow,
        "workflow",
        lambda: services.delete(workflow, by=request.user),
        text="Its workloads are deleted too. Their logs are kept for a time.",
        crumb=(CRUMB, reverse("workflow-list")),
        back=workflow.get_absolute_url(),
        obstacle=services.obstacle_to_delete(workflow),
    )


def _find_workflow(request: Request, pk: UUID) -> Workflow:
    return get_object_or_404(Workflow.objects.visible_to(request.user).for_detail(), pk=pk)
