"""Write a draft as YAML, fill a draft from YAML, and render the manifest it would become."""

from accounts.http import Request
from accounts.models import User
from assets.names import names_for
from core.forms import nested
from core.storage import require_space
from projects.models import Project
from spec.draft import WorkloadDraft
from spec.formats import draft_yaml
from spec.formats.lines import LONGEST, parse_yaml
from workloads.launch import render_manifests_as_yaml
from workloads.models import Draft
from workloads.plan import Plan
from workloads.submission import launch_of_plan
from workloads.wizard import drafts
from workloads.wizard.from_manifest import draft_document, is_manifest
from workloads.wizard.pages.problems import locate_problems
from workloads.wizard.sections.base import MASTER
from workloads.wizard.sections.table import questions

MOST_BYTES = 4 * LONGEST  # bytes read of a file: enough to see that a text is too long


def write_yaml(draft: WorkloadDraft, user: User) -> str:
    """Return the draft as YAML, with the names of assets and projects that the user sees instead of
    ids."""
    return draft_yaml.write_draft_yaml(draft, names_for(user))


def read_posted_text(request: Request) -> str:
    """Return the text of the chosen file, or the pasted text if there is no file. Raises
    ``DiskFull`` if a file would use the reserve of the disk."""
    upload = request.FILES.get("file")
    if upload:
        require_space()
        content: bytes = upload.read(MOST_BYTES)
        return content.decode(errors="replace").replace("\r\n", "\n")
    return request.POST.get("yaml", "").replace("\r\n", "\n")


def fill_from_yaml(draft: Draft, text: str, *, by: User, version: int | None) -> list[str]:
    """Replace the whole content of the draft by that of the text, which may be a manifest of
    Kubernetes, and return notes about what is left out of it. Raises ``YamlError`` if the text
    is wrong, and ``drafts.DraftOvertaken`` if the draft is no longer at ``version``."""
    notes: list[str] = []

    def change(content: WorkloadDraft) -> set[str]:
        lined = parse_yaml(text)
        if is_manifest(lined.values):
            projects = Project.objects.visible_to(by).select_related("cluster")
            project = projects.filter(pk=content.project or 0).first()
            lined, left_out = draft_document(lined, project)
            notes.extend(left_out)
        filled = draft_yaml.read_draft(lined, content, names_for(by))
        filled.rules = (filled.rules or ()) if content.is_template else None
        for name in WorkloadDraft.model_fields:
            setattr(content, name, getattr(filled, name))
        return set(_answered_questions(content))

    drafts.edit(draft, change, touch=True, version=version)
    return notes


def _answered_questions(content: WorkloadDraft) -> list[str]:
    """Return the names of the questions that the text answers. Their problems are shown."""
    return [
        name
        for name, question in questions().items()
        if nested.get(question.values_in(content) or {}, question.key) not in nested.EMPTY
    ]


def first_page_with_problem(planned: Plan) -> int:
    """Return the first page that has a problem, or the last page if none has."""
    return min((question.page for question, _ in locate_problems(planned)), default=MASTER)


def render_manifest(planned: Plan, by: User) -> str:
    """Return the manifest that the cluster would get, or an empty text while the draft cannot be
    submitted."""
    launch = launch_of_plan(planned, by)
    return render_manifests_as_yaml(planned.cluster, launch) if launch and planned.cluster else ""
