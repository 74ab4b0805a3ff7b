"""The page that submits a workflow file.

Nothing is stored between two requests: the form sends the file, and the scripts that came with it,
each time.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4, uuid5

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.http import Request, permission_required
from core.storage import require_space
from core.web.query import parse_number, parse_uuid
from projects.models import Project
from spec.formats.lines import LineProblem, YamlError
from spec.problems.errors import SpecError
from workflows import services
from workflows.imports.templates import parse_settings
from workflows.models import Priority
from workflows.reading import ReadFile, WorkflowFile, read_file
from workflows.shown import picture_of, preview_groups

LONGEST = 1024 * 1024  # bytes of one file
NO_FILE = "Paste a workflow file, or choose it together with its scripts."
NO_PROJECT = "Choose a project."
NOT_TEXT = "{} is not text in UTF-8; keep other files in a data source."
TOO_LARGE = "{} is larger than 1 MiB; keep it in a data source."
WORKFLOW = re.compile(r"^workflow\s*:", re.MULTILINE)
YAML_ENDINGS = (".yaml", ".yml")


@dataclass(frozen=True)
class PostedWorkflow:
    """The content of the form. ``faults`` say what is wrong with the form itself. ``form_id`` tells
    a form that is sent twice from another one."""

    form_id: UUID
    text: str
    files: dict[str, str]
    variables: str
    task_size: str
    project: Project | None
    priority: str
    faults: tuple[str, ...]

    def file(self) -> WorkflowFile:
        """Return the file with its variables. ``ValueError`` names a wrong one."""
        pairs = [line.strip() for line in self.variables.splitlines() if line.strip()]
        variables = parse_settings(pairs)
        return WorkflowFile(self.text, self.files, variables, task_size=self.task_size)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@permission_required("workloads.create")
def submit(request: Request) -> HttpResponse:
    """Show the form. A POST reads the file and shows what it becomes; with the ``action`` submit
    it also submits it."""
    posted = _read_form(request)
    if request.method != "POST":
        return _render_page(request, posted)
    if posted.faults or posted.project is None:
        return _render_page(request, posted, faults=posted.faults, status=422)
    try:
        read = read_file(posted.file(), project=posted.project, by=request.user)
    except YamlError as error:
        return _render_page(request, posted, problems=error.problems, status=422)
    except ValueError as error:
        return _render_page(request, posted, faults=[str(error)], status=422)
    values: dict[str, Any] = {
        "project": posted.project,
        "by": request.user,
        "priority": posted.priority,
    }
    pk = uuid5(posted.form_id, str(request.user.pk))
    try:
        if request.POST.get("action") == "submit":
            workflow = services.submit(read.graph, text=read.text, pk=pk, **values)
            messages.success(request, f"{workflow} was created.")
            return redirect(workflow)
        services.check(read.graph, **values)
    except SpecError as error:
        faults = [f"{problem.field}: {problem.message}" for problem in error.problems]
        return _render_page(request, posted, read, faults=faults, status=422)
    return _render_page(request, posted, read)


def _read_form(request: Request) -> PostedWorkflow:
    """Read the form. A chosen workflow file replaces the pasted text, and other chosen files are
    added to those that were sent before."""
    faults: list[str] = []
    text = request.POST.get("workflow", "").replace("\r\n", "\n")  # browsers send CR LF
    paths = request.POST.getlist("path")
    contents = (it.replace("\r\n", "\n") for it in request.POST.getlist("content"))
    files = dict(zip(paths, contents, strict=False))
    for upload in request.FILES.getlist("files"):
        require_space()
        name = upload.name or ""
        content, fault = _read_upload(name, upload)
        if fault:
            faults.append(fault)
        elif name.endswith(YAML_ENDINGS) and WORKFLOW.search(content):
            text = content
        else:
            files[name] = content
    project = _chosen_project(request)
    if request.method == "POST":
        faults += [] if text.strip() else [NO_FILE]
        faults += [] if project else [NO_PROJECT]
    priority = request.POST.get("priority", "")
    return PostedWorkflow(
        parse_uuid(request.POST.get("form", "")) or uuid4(),
        text,
        files,
        request.POST.get("variables", ""),
        request.POST.get("size", ""),
        project,
        priority if priority in Priority.values else Priority.NORMAL,
        tuple(faults),
    )


def _read_upload(name: str, upload: "UploadedFile[bytes]") -> tuple[str, str]:
    """Return the text of a file, and what is wrong with it."""
    data = upload.read(LONGEST + 1)
    if len(data) > LONGEST:
        return "", TOO_LARGE.format(name)
    try:
        return data.decode(), ""
    except UnicodeDecodeError:
        return "", NOT_TEXT.format(name)


def _chosen_project(request: Request) -> Project | None:
    projects = Project.objects.open_to(request.user, "workloads.create").select_related("cluster")
    pk = parse_number(request.POST.get("project", ""))
    if pk is not None:
        return projects.filter(pk=pk).first()
    return projects.first() if projects.count() == 1 else None


def _render_page(
    request: Request,
    posted: PostedWorkflow,
    read: ReadFile | None = None,
    *,
    problems: Sequence[LineProblem] = (),
    faults: Sequence[str] = (),
    status: int = 200,
) -> HttpResponse:
    context: dict[str, Any] = {
        "posted": posted,
        "problems": problems,
        "faults": faults,
        "projects": Project.objects.open_to(request.user, "workloads.create").for_list(),
        "priorities": Priority.choices,
        "is_ready": bool(read) and not faults,
    }
    if read:
        context |= {
            "picture": picture_of(preview_groups(read.graph)),
            "report": read.text.report,
            "rendered": read.text.rendered,
        }
    return render(request, "workflows/submit.html", context, status=status)
