"""A batch script becomes a workload: pasted or dropped, read line by line, then run or changed.

Nothing is kept between two requests: the form posts the script each time.
"""

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
from spec.imports.reading import ReadLine, script_lines
from spec.imports.sbatch import ImportedScript
from spec.parts.batch_script import LONGEST
from spec.problems.errors import Problem, SpecError
from workloads import services
from workloads.models import Draft
from workloads.plan import plan
from workloads.scripts.reading import draft_of, read
from workloads.wizard.pages.problems import sentence
from workloads.wizard.places import locate

AS_WORKLOAD = "as-workload"  # the value of ``how``; the other one is ``as-it-stands``
NOTHING = "Paste a batch script, or choose its file."
TOO_LONG = f"A batch script has at most {LONGEST // 1024} KiB."


@dataclass(frozen=True)
class Posted:
    """What the form holds. ``how`` is empty until a cluster was chosen that leaves a choice."""

    text: str
    name: str
    project: Project | None
    how: str

    @property
    def may_stand(self) -> bool:
        return bool(self.project and self.project.cluster.definition.runs_batch_scripts)

    @property
    def stands(self) -> bool:
        return self.may_stand and self.how != AS_WORKLOAD

    @property
    def fault(self) -> str:
        if not self.text.strip():
            return NOTHING
        return TOO_LONG if len(self.text) > LONGEST else ""

    def script(self, *, as_workload: bool = False) -> ImportedScript:
        cluster = self.project.cluster if self.project else None
        return read(self.text, cluster, as_it_stands=self.stands and not as_workload)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def workload_from_script(request: Request) -> HttpResponse:
    """A POST reads the script, and then does its ``action``: ``wizard``, ``submit``, or nothing."""
    posted = _posted(request)
    if request.method != "POST":
        return _page(request, posted)
    if posted.fault:
        return _page(request, posted, fault=posted.fault, status=422)
    script = posted.script()
    action = request.POST.get("action", "")
    if action == "wizard":
        return _to_the_wizard(request, posted)
    if action == "submit" and not any(note.blocks for note in script.notes):
        return _submit(request, posted, script)
    return _page(request, posted, script, status=422 if action else 200)


def _posted(request: Request) -> Posted:
    """A chosen file takes the place of what was pasted. Browsers send CR LF at the end of lines."""
    upload = request.FILES.get("file")
    if upload:
        require_space()
    text = upload.read(LONGEST + 1).decode(errors="replace") if upload else ""
    text = text or request.POST.get("script", "").replace("\r\n", "\n")
    projects = Project.objects.visible_to(request.user).select_related("cluster")
    pk = parse_number(request.POST.get("project", ""))
    project = projects.filter(pk=pk).first() if pk is not None else None
    if project is None and projects.count() == 1:
        project = projects.first()
    return Posted(text, request.POST.get("name", "").strip(), project, request.POST.get("how", ""))


def _to_the_wizard(request: Request, posted: Posted) -> HttpResponse:
    """What it runs, as a draft: with a script that stands there would be nothing to fill in."""
    draft = Draft(owner=request.user, step=1)
    draft.content = draft_of(posted.script(as_workload=True), posted.name, posted.project)
    draft.save()
    return redirect(draft)


def _submit(request: Request, posted: Posted, script: ImportedScript) -> HttpResponse:
    try:
        workload = services.submit(draft_of(script, posted.name, posted.project), by=request.user)
    except SpecError as error:
        return _page(request, posted, script, problems=error.problems, status=422)
    messages.success(request, f"{workload.name} was created.")
    return redirect("workload-list")


def _page(
    request: Request,
    posted: Posted,
    script: ImportedScript | None = None,
    *,
    fault: str = "",
    problems: tuple[Problem, ...] | list[Problem] = (),
    status: int = 200,
) -> HttpResponse:
    read_lines: list[ReadLine] = list(script_lines(posted.text, script)) if script else []
    if script and not problems:
        problems = plan(draft_of(script, posted.name, posted.project), by=request.user).problems
    # The page shows these problems at their lines.
    notes = {f"line {it.line}: {it.text}" for it in script.notes} if script else set()
    sentences = [sentence(locate(it), it) for it in problems if it.message not in notes]
    context: dict[str, Any] = {
        "posted": posted,
        "fault": fault,
        "script": script,
        "lines": read_lines,
        "blocking": [line for line in read_lines if line.blocks],
        "problems": list(dict.fromkeys(sentences)),
        "projects": Project.objects.visible_to(request.user).for_list(),
        "name": posted.name or (script.name if script else ""),
    }
    return render(request, "workloads/scripts/page.html", context, status=status)
