"""The wizard shows a project's default node pools for workloads that name none."""

import pytest

from projects.models import Project
from tests.workloads.wizard.browser import Wizard, item

pytestmark = pytest.mark.django_db


@pytest.fixture
def pooled(wizard: Wizard, on_kubernetes: Project) -> Wizard:
    """A draft that names no node pools, in a project with defaults."""
    on_kubernetes.default_node_pools = ["a100", "default"]
    on_kubernetes.save()
    return wizard.ready()


def test_the_review_says_that_node_pools_come_from_the_project(pooled: Wizard) -> None:
    page = " ".join(pooled.open(pooled.at(3)).page.split())
    assert "a100, default" in page
    assert "from project team-a" in page


def test_the_node_pools_of_a_template_win(pooled: Wizard) -> None:
    draft = pooled.draft
    draft.document["values"]["nodePools"] = ["default"]
    draft.save()
    assert pooled.plan().document["nodePools"] == ["default"]
    assert pooled.plan().origins["nodePools"] == "user"


def words(page: str) -> str:
    return " ".join(page.split())


RESET = "Reset to the project's default"


def test_the_list_begins_as_the_project_has_it(pooled: Wizard) -> None:
    page = words(pooled.open(pooled.at(2)).page)
    assert page.index('<option value="a100" selected>') < page.index(
        '<option value="default" selected>'
    )
    assert "Uses a100, default from project team-a." in page
    assert RESET not in page
    assert 'id="scheduling-note">defaults<' in page
    assert "nodePools" not in pooled.draft.content.values


def test_posted_as_it_is_it_stays_the_projects(pooled: Wizard) -> None:
    pooled.open(pooled.at(2)).press("save").open(pooled.at(2))
    assert RESET not in pooled.page
    assert pooled.plan().origins["nodePools"] == "project team-a"


def test_another_order_is_reset_without_a_script(pooled: Wizard) -> None:
    pooled.open(pooled.at(2)).press("down:nodePools:0")
    assert pooled.draft.content.values["nodePools"] == ["default", "a100"]
    page = words(pooled.page)
    assert "Replaces a100, default from project team-a." in page
    assert RESET in page
    assert pooled.plan().origins["nodePools"] == "user"
    pooled.press("reset:nodePools")
    assert "nodePools" not in pooled.draft.content.values
    assert RESET not in pooled.page
    assert pooled.plan().document["nodePools"] == ["a100", "default"]


def test_a_reset_with_a_script_answers_the_list(pooled: Wizard) -> None:
    answer = pooled.open(pooled.at(2)).save(
        2, **item("nodePools", item="default"), again="nodePools"
    )
    assert RESET in answer
    answer = pooled.save(2, **item("nodePools", item="default"), action="reset:nodePools")
    assert 'id="nodePools-rows"' in answer
    assert '<option value="a100" selected>' in answer


def test_without_a_pool_of_its_own_the_list_is_the_projects_again(pooled: Wizard) -> None:
    pooled.open(pooled.at(2)).press("remove:nodePools:1")
    assert pooled.draft.content.values["nodePools"] == ["a100"]
    pooled.press("remove:nodePools:0")
    assert "Uses a100, default from project team-a." in words(pooled.page)


def test_a_project_without_a_default_offers_no_reset(
    wizard: Wizard, on_kubernetes: Project
) -> None:
    wizard.ready().save(2, **item("nodePools", item="a100"))
    page = wizard.open(wizard.at(2)).page
    assert RESET not in page
    assert "from project" not in page
    wizard.client.post(wizard.at(2), {"action": "reset:worker-tolerations"})
    assert wizard.client.post(wizard.at(2), {"action": "reset:worker-labels"}).status_code == 404


def test_a_section_that_this_machine_lacks_begins_with_nothing(
    wizard: Wizard, project: Project
) -> None:
    project.default_node_pools = ["default"]
    project.save()
    page = wizard.ready().open(wizard.at(2)).page
    assert "from project" not in page
    assert wizard.plan().document["nodePools"] == ["default"]
    assert wizard.plan().is_submittable
