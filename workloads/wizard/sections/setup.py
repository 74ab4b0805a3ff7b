"""Section: the first page, with cluster, project, kind, framework, template and name."""

from collections.abc import Iterator

from core.forms.field import Input
from spec.framework import Framework
from spec.kind import WorkloadKind
from spec.workload import Architecture
from workloads.plan import Plan
from workloads.wizard.sections.base import SETUP as PAGE
from workloads.wizard.sections.base import Line, Question, Section


def review(plan: Plan, role: str) -> Iterator[Line]:
    content = plan.draft
    yield "Name", content.name, ""
    yield "Project", str(plan.project or ""), ""
    yield "Cluster", str(plan.cluster or ""), ""
    if content.kind in list(WorkloadKind):
        yield "Type", WorkloadKind(content.kind).label, ""
    if content.is_gang and content.framework in list(Framework):
        yield "Framework", Framework(content.framework).label, ""
    if content.is_gang and content.architecture in list(Architecture):
        yield "Configuration", Architecture(content.architecture).label, ""
    if plan.template:
        yield "Template", plan.template.name, ""


SETUP = Section(
    "setup",
    page=PAGE,
    once=(
        Question("cluster", "Cluster", Input.CARDS),
        Question("project", "Project", Input.CARDS),
        Question("kind", "Workload architecture", Input.CARDS),
        Question("framework", "Framework", Input.CARDS),
        Question("architecture", "Distributed training configuration", Input.CARDS),
        Question("template", "Template", Input.CARDS),
        Question(
            "name",
            "Name",
            hint="Lower-case letters, digits and hyphens, starting with a letter. Unique in "
            "the project.",
        ),
    ),
    review=review,
)
