"""Lines that run before the command: typed as a text, kept as a list, shown in the review."""

import pytest

from projects.models import Project
from spec.formats import documents
from tests.workloads.wizard.browser import Inputs, Wizard
from workloads.models import Workload

pytestmark = pytest.mark.django_db
LINES = ["module load cuda", 'export NAME="a & b"', "source /opt/venv/bin/activate"]


def test_lines_become_the_setup_of_the_workload(wizard: Wizard) -> None:
    wizard.ready().open(wizard.at(2)).press("save", setup="\r\n".join(LINES))
    assert wizard.draft.content.values["setup"] == LINES
    assert Inputs(wizard.page).values["setup"] == "\n".join(LINES)
    wizard.press("continue")
    assert "module load cuda\nexport NAME" in wizard.page, "the review shows each on its line"
    wizard.press("create")
    workload = Workload.objects.get()
    assert workload.spec.setup == tuple(LINES)
    assert "source /opt/venv/bin/activate" in documents.to_yaml(workload.spec_json)


def test_no_lines_are_no_setup(wizard: Wizard) -> None:
    wizard.ready().open(wizard.at(2)).press("save", setup="true\n\n")
    wizard.press("save", setup="  \n")
    assert not wizard.draft.content.filled_values.get("setup")
    wizard.press("continue")
    assert "Setup commands" not in wizard.page


def test_kubernetes_says_why_it_has_none(wizard: Wizard, on_kubernetes: Project) -> None:
    wizard.ready().open(wizard.at(2))
    assert "starts by its image&#x27;s own entry point" in wizard.page
    wizard.press("save", setup="true")
    problems = {it.field: it.message for it in wizard.plan().problems}
    assert "put the lines into the image" in problems["setup"]
