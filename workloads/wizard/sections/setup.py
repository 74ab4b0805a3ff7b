"""Section: the first page, with cluster, project, kind, framework, template and name."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import UUID

from django.http import QueryDict

from accounts.models import User
from assets.models import Template
from core.forms import read
from core.forms.field import Input
from core.forms.shown import ShownField
from core.web.query import parse_uuid
from spec.draft import WorkloadDraft
from spec.framework import Framework
from spec.kind import WorkloadKind, kinds_of_wizard
from spec.workload import Architecture
from workloads.plan import Plan
from workloads.wizard.sections.base import SETUP as PAGE
from workloads.wizard.sections.base import Question, ReviewLine, Section

if TYPE_CHECKING:
    from workloads.wizard.choices.offers import Offer

LONGEST = 200  # characters stored of an answer; still long enough to be refused as too long
WHOLE_NUMBER = re.compile(r"^[+-]?[0-9]{1,12}$")


class DraftQuestion(Question):
    """A question whose answer is a field of the draft, not one of its values."""

    def write_answer(self, draft: WorkloadDraft, posted: QueryDict, by: User) -> None:
        setattr(draft, self.key, read.posted_text(posted, self.name)[:LONGEST])

    def add_details(self, shown: ShownField, plan: Plan, offer: "Offer") -> None:
        shown.value = getattr(plan.draft, self.key, "")


class ClusterQuestion(DraftQuestion):
    def write_answer(self, draft: WorkloadDraft, posted: QueryDict, by: User) -> None:
        chosen = parse_uuid(read.posted_text(posted, self.name))
        if chosen != draft.cluster:
            draft.cluster = chosen
            draft.project = None


class ProjectQuestion(DraftQuestion):
    def write_answer(self, draft: WorkloadDraft, posted: QueryDict, by: User) -> None:
        value = read.posted_text(posted, self.name)
        draft.project = int(value) if WHOLE_NUMBER.match(value) else None


class KindQuestion(DraftQuestion):
    def is_for(self, draft: WorkloadDraft) -> bool:
        """Return whether there are several kinds to choose from. A single kind was chosen in the
        menu."""
        return len(kinds_of_wizard(draft.traits.noun)) > 1 and super().is_for(draft)


class FrameworkQuestion(DraftQuestion):
    def is_for(self, draft: WorkloadDraft) -> bool:
        return draft.traits.is_gang and super().is_for(draft)


class TemplateQuestion(DraftQuestion):
    def is_for(self, draft: WorkloadDraft) -> bool:
        """Return whether the draft is for a workload. A template does not begin from another
        template."""
        return not draft.is_template and super().is_for(draft)

    def write_answer(self, draft: WorkloadDraft, posted: QueryDict, by: User) -> None:
        start_from_template(draft, parse_uuid(read.posted_text(posted, self.name)), by=by)


class NameQuestion(DraftQuestion):
    def is_for(self, draft: WorkloadDraft) -> bool:
        """Return whether the draft is for a workload. A template gets its name when it is saved."""
        return not draft.is_template and super().is_for(draft)

    def add_details(self, shown: ShownField, plan: Plan, offer: "Offer") -> None:
        super().add_details(shown, plan, offer)
        is_bad = any(problem.path == ("name",) for problem in plan.problems)
        shown.ok = "" if is_bad or not plan.project else f"Free in {plan.project.name}"


def start_from_template(draft: WorkloadDraft, template: UUID | None, *, by: User) -> None:
    """Replace the answers by those of a template, or clear them for ``None``. Name and project
    stay."""
    if template == draft.template:
        return
    chosen = Template.objects.visible_to(by).filter(pk=template).first() if template else None
    base = chosen.draft if chosen else WorkloadDraft()
    draft.template = chosen.pk if chosen else None
    draft.worker = base.worker
    draft.master = base.master
    draft.values = base.values
    draft.framework = base.framework
    draft.architecture = base.architecture
    draft.kind = base.kind if chosen else draft.kind


def review(plan: Plan, role: str) -> Iterator[ReviewLine]:
    content = plan.draft
    yield "Name", content.name, ""
    yield "Project", str(plan.project or ""), ""
    yield "Cluster", str(plan.cluster or ""), ""
    if content.kind in list(WorkloadKind):
        yield "Type", WorkloadKind(content.kind).label, ""
    if content.is_gang and content.framework in list(Framework):
        yield "Framework", Framework(content.framework).label, ""
    has_usual_roles = content.is_gang and not content.has_roles
    if has_usual_roles and content.architecture in list(Architecture):
        yield "Configuration", Architecture(content.architecture).label, ""
    if plan.template:
        yield "Template", plan.template.name, ""


SETUP = Section(
    "setup",
    page=PAGE,
    once=(
        ClusterQuestion("cluster", "Cluster", Input.CARDS),
        ProjectQuestion("project", "Project", Input.CARDS),
        KindQuestion("kind", "Workload architecture", Input.CARDS),
        FrameworkQuestion("framework", "Framework", Input.CARDS),
        DraftQuestion("architecture", "Distributed training configuration", Input.CARDS),
        TemplateQuestion("template", "Template", Input.CARDS),
        NameQuestion(
            "name",
            "Name",
            hint="Lower-case letters, digits and hyphens, starting with a letter. Unique in "
            "the project.",
        ),
    ),
    review=review,
)
