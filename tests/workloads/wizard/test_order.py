"""Node pools in an order of choice, and names that are chosen from what the cluster has."""

import pytest

from accounts import general
from clusters.models import NodePool
from projects.models import Project
from tests.factories import NodeFactory, UserFactory
from tests.workloads.wizard.browser import Wizard

pytestmark = pytest.mark.django_db
POOLS = ["a100", "h100", "t4"]


@pytest.fixture
def pooled(wizard: Wizard, on_kubernetes: Project) -> Wizard:
    """A draft that names three node pools."""
    for name in POOLS[1:]:
        cluster = on_kubernetes.cluster
        NodePool.objects.create(cluster=cluster, name=name, label_key="gpu", label_value=name)
    draft = wizard.ready().draft
    draft.document["values"]["nodePools"] = list(POOLS)
    draft.save()
    return wizard.open(wizard.at(2))


def order(wizard: Wizard) -> list[str]:
    pools: list[str] = wizard.draft.content.values["nodePools"]
    return pools


def test_buttons_move_a_pool_up_and_down(pooled: Wizard) -> None:
    pooled.press("up:nodePools:2")
    assert order(pooled) == ["a100", "t4", "h100"]
    pooled.press("down:nodePools:0")
    assert order(pooled) == ["t4", "a100", "h100"]
    pooled.press("down:nodePools:2")
    pooled.press("up:nodePools:0")
    assert order(pooled) == ["t4", "a100", "h100"], "there is nothing beyond the ends"


def test_a_dragged_order_is_taken_over_as_a_whole(pooled: Wizard) -> None:
    pooled.press("sort:nodePools:2,0,1")
    assert order(pooled) == ["t4", "a100", "h100"]


def test_an_order_of_other_pools_changes_nothing(pooled: Wizard) -> None:
    for wrong in ("", "0,1", "0,1,2,3", "0,0,1", "x,1,2", "-1,0,1"):
        pooled.press(f"sort:nodePools:{wrong}")
        assert order(pooled) == POOLS, wrong


def test_the_last_pool_has_no_button_down_and_the_first_none_up(pooled: Wizard) -> None:
    page = pooled.page
    assert page.count("Move up: node pools") == page.count("Move down: node pools") == 2
    assert 'value="up:nodePools:0"' not in page
    assert 'value="down:nodePools:2"' not in page


def test_node_types_and_topologies_are_chosen_from_what_the_cluster_has(
    pooled: Wizard, on_kubernetes: Project
) -> None:
    assert '<select class="form-select" form="wizard-form" name="worker-nodeType"' not in (
        pooled.page
    ), "typed if the cluster reports none"
    general.update_settings(by=UserFactory(administrator=True), tolerations=False, topology=True)
    cluster = on_kubernetes.cluster
    NodeFactory(cluster=cluster, labels_json={"run.ai/type": "dgx"})
    cluster.capabilities_json |= {"topologies": ["racks"]}
    cluster.save()
    page = " ".join(pooled.open(pooled.at(2)).page.split())
    assert 'form="wizard-form" name="worker-nodeType" id="worker-nodeType" ' in page
    assert '<option value="dgx">dgx</option>' in page
    assert '<option value="racks">racks</option>' in page
    pooled.press("save", **{"worker-nodeType": "dgx"})
    assert pooled.draft.content.worker.values["nodeType"] == "dgx"
    draft = pooled.draft
    draft.document["worker"]["values"]["nodeType"] = "gone"
    draft.save()
    assert "gone (not on this cluster)" in pooled.open(pooled.at(2)).page
