"""A draft as YAML, to keep, to change and to fill the form with; and what it would become."""

from accounts.http import Request
from accounts.models import User
from assets.names import names_for
from core.forms import nested
from spec.draft import WorkloadDraft
from spec.formats import draft_yaml
from spec.formats.lines import LONGEST
from workloads.launch import manifest
from workloads.models import Draft
from workloads.plan import Plan
from workloads.submission import planned_launch_of
from workloads.wizard import drafts
from workloads.wizard.pages.problems import problems
from workloads.wizard.places import values_of
from workloads.wizard.sections.base import MASTER
from workloads.wizard.sections.table import questions

BYTES = 4 * LONGEST  # of a file; what is longer is too long in any case


def text_of(draft: WorkloadDraft, user: User) -> str:
    return draft_yaml.write(draft, names_for(user))


def posted(request: Request) -> str:
    """What was pasted; a chosen file takes its place."""
    upload = request.FILES.get("file")
    if upload:
        content: bytes = upload.read(BYTES)
        return content.decode(errors="replace").replace("\r\n", "\n")
    return request.POST.get("yaml", "").replace("\r\n", "\n")


def fill(draft: Draft, text: str, *, by: User, version: int | None) -> None:
    """Put what a text says in the place of the whole draft. ``YamlError``, ``drafts.Overtaken``."""

    def change(content: WorkloadDraft) -> set[str]:
        filled = draft_yaml.draft_of(text, content, names_for(by))
        filled.rules = (filled.rules or ()) if content.is_template else None
        for name in WorkloadDraft.model_fields:
            setattr(content, name, getattr(filled, name))
        return set(_given(content))

    drafts.edit(draft, change, touch=True, version=version)


def _given(content: WorkloadDraft) -> list[str]:
    """The questions that the text answers: they say what is wrong with the answers."""
    return [
        name
        for name, question in questions().items()
        if nested.get(values_of(content, question) or {}, question.key) not in nested.EMPTY
    ]


def page_to_look_at(planned: Plan) -> int:
    """The first one where something is left to do, or the review."""
    return min((question.page for question, _ in problems(planned)), default=MASTER)


def manifest_of(planned: Plan, by: User) -> str:
    """What the cluster would get; empty while the draft cannot be submitted."""
    launch = planned_launch_of(planned, by)
    return manifest(planned.cluster, launch) if launch and planned.cluster else ""
