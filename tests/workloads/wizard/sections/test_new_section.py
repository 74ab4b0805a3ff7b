"""A new section is one module and one row: this one exists in this test alone."""

import re
from collections.abc import Iterator

import pytest

from clusters.kinds import KINDS
from config.run.install import ROOT
from core.forms.field import Input
from projects.models import Project
from tests.workloads.wizard.browser import Wizard
from workloads.plan import Plan
from workloads.wizard.sections import table
from workloads.wizard.sections.base import FOLD, Question, ReviewLine, Section, reviewed_replica

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("on_kubernetes", "pulling")]
POLICY = "restartPolicy"


def review(plan: Plan, role: str) -> Iterator[ReviewLine]:
    yield (
        "Images are pulled",
        str(reviewed_replica(plan, role).restart_policy or ""),
        f"{role}.{POLICY}",
    )


NOT_PULLED = {POLICY: "not on a Tuesday"}


PULLING = Section(
    "pulling",
    "How images come",
    template=FOLD,
    replica=(
        Question(
            POLICY, "Pull policy", Input.SELECT, options=(("", "Usual"), ("Never", "Not at all"))
        ),
    ),
    once=(Question("slotsPerWorker", "Slots of it", Input.WHOLE),),
    review=review,
)


@pytest.fixture
def pulling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "SECTIONS", (*table.SECTIONS, PULLING))
    local = KINDS["local"]
    missing = {**local.missing_sections, "pulling": "This machine pulls no image."}
    monkeypatch.setattr(local, "missing_sections", missing)
    monkeypatch.setattr(KINDS["kubernetes"], "useless_fields", NOT_PULLED)


def test_a_new_section_of_the_wizard_is_shown_captured_reviewed_and_submitted(
    wizard: Wizard,
) -> None:
    page = wizard.ready().open(wizard.at(2)).page
    assert "How images come" in page
    assert "Not on a Tuesday." in page
    wizard.save(2, **{f"worker-{POLICY}": "Never"})
    assert wizard.draft.content.worker.values[POLICY] == "Never"
    assert ">1 changed<" in wizard.open(wizard.at(2)).page
    review = wizard.open(wizard.at(3)).page
    assert "<dt>Images are pulled</dt> <dd>Never" in " ".join(review.split())
    assert wizard.plan().is_submittable, wizard.plan().problems


def test_a_problem_in_a_new_section_is_shown_at_its_field(wizard: Wizard) -> None:
    page = wizard.ready().save(2, **{f"worker-{POLICY}": "Sometimes"})
    notes = page[page.index(f'id="worker-{POLICY}-notes"') :]
    assert "Pull policy must be one of" in notes[: notes.index("</ul>")]


def test_a_master_that_differs_is_asked_too(wizard: Wizard) -> None:
    wizard.ready().open(wizard.at(3)).press("save", **{"master-different": "on"})
    page = wizard.open(wizard.at(3)).press("save", **{f"master-{POLICY}": "Never"})
    master = wizard.draft.content.master
    assert master
    assert master.values[POLICY] == "Never"
    assert "Slots of it" not in page.page


def test_a_new_section_says_why_the_cluster_lacks_the_feature(
    wizard: Wizard, project: Project
) -> None:
    project.cluster.kind = "local"
    project.cluster.save()
    page = wizard.ready().open(wizard.at(2)).page
    assert "This machine pulls no image." in page
    assert f'name="worker-{POLICY}"' not in page


def test_the_recipe_names_files_that_exist() -> None:
    recipe = (ROOT / "CONTRIBUTING.md").read_text().split("add a section to the wizard\n")[1]
    named = re.findall(r"`([a-z/_<>]+(?:\.py|\.html|/))`", recipe.split("## Recipe")[0])
    assert len(named) == 8
    for name in named:
        files = list(ROOT.glob(name.replace("<name>", "*")))
        assert files, name
