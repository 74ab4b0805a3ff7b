"""The node pools of a project's workloads that name none, as the wizard has them."""

import pytest

from projects.models import Project
from tests.workloads.wizard.browser import Wizard

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
