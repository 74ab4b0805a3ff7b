"""A scheduling rule makes the node type required, with the types of the rule as its options."""

import pytest

from projects.models import Project
from tests.workloads.wizard.browser import Wizard

pytestmark = pytest.mark.django_db


@pytest.fixture
def ruled(wizard: Wizard, on_kubernetes: Project) -> Wizard:
    """A draft that names no node type, in a project with a rule for them."""
    on_kubernetes.training_node_types = ["a100", "h100"]
    on_kubernetes.save()
    return wizard.ready()


def node_type_problems(wizard: Wizard) -> list[str]:
    problems = wizard.plan().problems
    return [problem.message for problem in problems if problem.field == "worker.nodeType"]


def test_a_workload_without_a_node_type_is_refused(ruled: Wizard) -> None:
    assert node_type_problems(ruled) == [
        "is required; choose a100 or h100, by a rule of project team-a"
    ]


def test_only_the_node_types_of_the_rule_are_offered(ruled: Wizard) -> None:
    page = " ".join(ruled.open(ruled.at(2)).page.split())
    label = '<label class="form-label field-required" for="worker-nodeType">'
    assert label in page
    assert '<option value="a100">a100</option><option value="h100">h100</option>' in page.replace(
        "> <", "><"
    )
    assert "Required by a rule of project team-a." in page
    ruled.press("save", **{"worker-nodeType": "h100"})
    assert node_type_problems(ruled) == []


def test_another_node_type_is_refused_and_stays_visible(ruled: Wizard) -> None:
    draft = ruled.draft
    draft.document["worker"].setdefault("values", {})["nodeType"] = "cpu"
    draft.save()
    assert node_type_problems(ruled) == ["must be a100 or h100, by a rule of project team-a"]
    assert '<option value="cpu" selected>' in ruled.open(ruled.at(2)).page


def test_without_a_rule_the_node_type_is_free(wizard: Wizard, on_kubernetes: Project) -> None:
    on_kubernetes.workspace_node_types = ["a100"]
    on_kubernetes.save()
    assert node_type_problems(wizard.ready()) == []


def test_the_review_names_the_limits_of_rules(wizard: Wizard, on_kubernetes: Project) -> None:
    on_kubernetes.training_job_time_limit_seconds = 7200
    on_kubernetes.save()
    draft = wizard.ready()
    assert "2 h (project team-a)" in draft.open(draft.at(3)).page
