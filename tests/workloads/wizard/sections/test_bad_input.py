"""Nonsense in any input of the wizard: kept as typed, and told where it was entered."""

from uuid import UUID

import pytest
from django.db import transaction
from django.http import QueryDict

from core.forms.field import Cell, Input
from projects.models import Project
from spec.framework import framework_with
from spec.kind import WorkloadKind
from spec.problems.errors import Problem
from tests.factories import DataSourceFactory
from tests.workloads.wizard.browser import Wizard
from workloads.plan import plan
from workloads.wizard.capture import capture
from workloads.wizard.pages.problems import locate_problems, problem_sentence
from workloads.wizard.sections.base import Question
from workloads.wizard.sections.table import questions

pytestmark = pytest.mark.django_db
NONSENSE = "<b>' no; --\n"
SOURCE = UUID("8f14e45f-ceea-467f-a8b2-5f8d3c1c9e10")
#: Any text is a value there, or a name that is only warned of.
FREE = {
    "worker-annotations-0-value",
    "worker-connections-0-name",
    "worker-connections-0-who-0",
    "worker-environmentVariables-0-source",
    "worker-probes-readiness-handler-httpGet-path",
    "worker-storage-configMapVolume-0-subPath",
    "worker-workingDir",
}
#: A choice that is none of those offered is none.
NO_CHOICE = {"worker-connections-0-tool_type", "worker-environmentVariables-0-source"}
#: What else an item needs before this part of it is looked at.
BESIDES = {
    "worker-annotations": {"name": "team"},
    "worker-connections": {
        "tool_type": "custom",
        "name": "board",
        "container_port": "6006",
        "connection_type": "ExternalUrl",
        "access": "authorizedUsers",
    },
    "worker-dataSources": {"id": str(SOURCE)},
    "worker-environmentVariables": {"name": "LR", "source": "secret", "value": "s"},
    "worker-storage-configMapVolume": {"configMap": "c", "mountPath": "/c"},
}
READINESS = "worker-probes-readiness-handler-httpGet"
#: A box is on or off, and a choice of a few cards is judged by its own tests.
NO_TEXT = {Input.FLAG, Input.CARDS}
NEEDS_KIND = {"idleLimitSeconds": WorkloadKind.WORKSPACE}


def cases() -> list[tuple[Question, Cell | None]]:
    """The master asks what the workers ask. Roles have no input."""
    others = [it for it in questions().values() if it.role != "master" and it.key != "roles"]
    asked = [it for it in others if it.input not in NO_TEXT]
    singles = [(it, None) for it in asked if not it.is_list]
    cells = [(it, cell) for it in asked for cell in it.cells if cell.input not in NO_TEXT]
    return [*singles, *cells]


def name_of(question: Question, cell: Cell | None) -> str:
    first = "-0" if cell and cell.input is Input.NAMES else ""
    return f"{question.name}-0-{cell.slug}{first}" if cell else question.name


def is_about(problem: Problem, question: Question, cell: Cell | None) -> bool:
    """A row says below itself what is wrong with it, an item at its part."""
    whole = cell is None or question.input is Input.ROWS
    return whole or question.cell_of(problem.path) is cell


CASES = {name_of(*case): case for case in cases()}


@pytest.mark.usefixtures("on_kubernetes")
def test_nonsense_is_told_where_it_was_entered(wizard: Wizard, project: Project) -> None:
    DataSourceFactory(home=project, pk=SOURCE)
    for name in sorted(CASES):
        with transaction.atomic():
            _enter_nonsense(wizard, name)
            transaction.set_rollback(True)


def _enter_nonsense(wizard: Wizard, name: str) -> None:
    question, cell = CASES[name]
    content = wizard.ready().draft.content
    content.framework = framework_with(question.key) or content.framework
    content.kind = NEEDS_KIND.get(question.key, content.kind)
    posted = QueryDict(mutable=True)
    posted.update({question.name: "items"} if question.is_list else {f"{READINESS}-port": "80"})
    more = BESIDES.get(question.name, {})
    posted.update({f"{question.name}-0-{key}": more[key] for key in more})
    posted[name] = NONSENSE
    capture(content, posted, by=wizard.user)
    if name != "name" and name not in NO_CHOICE:
        assert NONSENSE.strip() in str(question.values_in(content)), f"{name} is kept as typed"
    told = [
        problem_sentence(asked, problem)
        for asked, problem in locate_problems(plan(content, by=wizard.user))
        if asked == question and is_about(problem, question, cell)
    ]
    assert bool(told) == (name not in FREE), (name, told)
    assert not any(text in " ".join(told) for text in ("pydantic", "Traceback"))
