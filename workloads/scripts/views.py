"""Turn a batch script into a workload: paste or drop it, read it line by line, then run or change
it.

Nothing is stored between two requests: the form sends the script each time.
"""

import shlex
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.http import Request
from core.storage import require_space
from core.web.query import parse_number
from projects.models import Project
from spec.imports.explanation import ExplainedLine, explain_lines
from spec.imports.sbatch import ImportedScript
from spec.parts.batch_script import LONGEST, decode_script
from spec.problems.errors import Problem, SpecError
from workloads.models import Draft, Source
from workloads.plan import plan
from workloads.scripts.naming import ScriptName, choose_name, submit_named
from workloads.scripts.reading import build_draft, read_script
from workloads.wizard.locations import locate_problem
from workloads.wizard.pages.problems import problem_sentence

AS_WORKLOAD = "as-workload"  # the value of ``how``; the other one is ``as-it-stands``
NO_SCRIPT = "Paste a batch script, or choose its file."
OPEN_QUOTE = "A quote in the arguments has no end."
MOST_BYTES = 4 * LONGEST  # a character has up to four
TOO_LONG = f"A batch script has at most {LONGEST // 1024} KiB."


@dataclass(frozen=True)
class PostedScript:
    """The content of the form. ``how`` is empty until the user has chosen a project on a cluster
    that can run batch scripts. ``file_name`` is that of the last file."""

    text: str
    name: str
    project: Project | None
    how: str
    file_name: str = ""
    arguments: str = ""
    file_fault: str = ""

    @property
    def may_run_as_it_stands(self) -> bool:
        return bool(self.project and self.project.cluster.definition.script_host)

    @property
    def runs_as_it_stands(self) -> bool:
        return self.may_run_as_it_stands and self.how != AS_WORKLOAD

    @property
    def fault(self) -> str:
        if self.file_fault:
            return self.file_fault
        if not self.text.strip():
            return NO_SCRIPT
        if self.words is None:
            return OPEN_QUOTE
        return TOO_LONG if len(self.text) > LONGEST else ""

    @property
    def words(self) -> list[str] | None:
        """The arguments; ``None`` if a quote in them does not end."""
        try:
            return shlex.split(self.arguments)
        except ValueError:
            return None

    def read(self, *, as_workload: bool = False) -> ImportedScript:
        cluster = self.project.cluster if self.project else None
        return read_script(
            self.text,
            cluster,
            as_it_stands=self.runs_as_it_stands and not as_workload,
            arguments=self.words or (),
        )

    def choose_name(self, script: ImportedScript) -> ScriptName:
        return choose_name(script, typed=self.name, file_name=self.file_name, project=self.project)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def workload_from_script(request: Request) -> HttpResponse:
    """Show the form. A POST reads the script and then does its ``action``: ``wizard``, ``submit``,
    or nothing."""
    posted = _read_form(request)
    if request.method != "POST":
        return _render_page(request, posted)
    if posted.fault:
        return _render_page(request, posted, fault=posted.fault, status=422)
    script = posted.read()
    action = request.POST.get("action", "")
    if action == "wizard":
        return _open_wizard(request, posted)
    if action == "submit" and not any(note.blocks for note in script.notes):
        return _submit(request, posted, script)
    return _render_page(request, posted, script, status=422 if action else 200)


def _read_form(request: Request) -> PostedScript:
    """Read the form. The chosen file, if it has any text, replaces the pasted script."""
    upload = request.FILES.get("file")
    file_name = request.POST.get("file_name", "")
    file_fault = ""
    text = ""
    if upload:
        require_space()
        file_name = upload.name or ""
        text, file_fault = _read_file(upload.read(MOST_BYTES + 1))
    if not text:
        text = request.POST.get("script", "").replace("\r\n", "\n")  # browsers send CR LF
    projects = Project.objects.visible_to(request.user).select_related("cluster")
    pk = parse_number(request.POST.get("project", ""))
    project = projects.filter(pk=pk).first() if pk is not None else None
    if project is None and projects.count() == 1:
        project = projects.first()
    return PostedScript(
        text,
        request.POST.get("name", "").strip(),
        project,
        request.POST.get("how", ""),
        file_name,
        request.POST.get("arguments", "").strip(),
        file_fault,
    )


def _read_file(content: bytes) -> tuple[str, str]:
    """Return the text of a file, and what is wrong with it."""
    if len(content) > MOST_BYTES:
        return "", TOO_LONG
    try:
        return decode_script(content), ""
    except ValueError as error:
        return "", f"The file cannot be read: {error}."


def _open_wizard(request: Request, posted: PostedScript) -> HttpResponse:
    """Open the script as a draft. It is read as a workload, because a script that runs as it stands
    leaves nothing to fill in."""
    draft = Draft(owner=request.user, step=1)
    script = posted.read(as_workload=True)
    name = posted.choose_name(script).name
    draft.content = build_draft(script, name, posted.project)
    draft.save()
    return redirect(draft)


def _submit(request: Request, posted: PostedScript, script: ImportedScript) -> HttpResponse:
    try:
        workloads, chosen = submit_named(
            script,
            lambda element, name: build_draft(element, name, posted.project),
            lambda: posted.choose_name(script),
            by=request.user,
            source=Source.FORM,
        )
    except SpecError as error:
        return _render_page(request, posted, script, problems=error.problems, status=422)
    created = f"{workloads[0].name} was created."
    if script.array:
        created = f"{len(workloads)} workloads were created from {chosen.name}."
    messages.success(request, created)
    return redirect("workload-list")


def _render_page(
    request: Request,
    posted: PostedScript,
    script: ImportedScript | None = None,
    *,
    fault: str = "",
    problems: tuple[Problem, ...] | list[Problem] = (),
    status: int = 200,
) -> HttpResponse:
    read_lines: list[ExplainedLine] = []
    chosen = ScriptName(posted.name)
    if script:
        chosen = posted.choose_name(script)
        script.notes = sorted([*script.notes, *chosen.notes], key=lambda note: note.line)
        read_lines = list(explain_lines(script))
    if script and not problems:
        end, element = next(script.elements(0))
        draft = build_draft(element, f"{chosen.name}{end}", posted.project)
        problems = plan(draft, by=request.user).problems
    # The page shows the notes at their lines, so it does not list these problems again.
    notes = {f"line {note.line}: {note.text}" for note in script.notes} if script else set()
    sentences = [
        problem_sentence(locate_problem(problem), problem)
        for problem in problems
        if problem.message not in notes
    ]
    context: dict[str, Any] = {
        "posted": posted,
        "fault": fault,
        "script": script,
        "lines": read_lines,
        "blocking": [line for line in read_lines if line.blocks],
        "problems": list(dict.fromkeys(sentences)),
        "projects": Project.objects.visible_to(request.user).for_list(),
        "derived_name": chosen.name,
    }
    return render(request, "workloads/scripts/page.html", context, status=status)
