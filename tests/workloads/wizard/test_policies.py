"""The wizard under policies: what they fill in, limit, rule out and impose is said at the field."""

import re
from typing import Any

import pytest

from accounts.models import User
from projects.models import Project
from tests.factories import (
    ComputeResourceFactory,
    DataSourceFactory,
    EnvironmentFactory,
    TemplateFactory,
    UserFactory,
)
from tests.policies.examples import Tree, default, make_policy, nest, rule
from tests.workloads.wizard.browser import Inputs, Wizard, item

pytestmark = pytest.mark.django_db
OWNER = "policy limits of Project team-a"
VARIABLES = "worker-environmentVariables"


@pytest.fixture
def administrator() -> User:
    return UserFactory(administrator=True, username="ada")


@pytest.fixture(autouse=True)
def _filled_in(wizard: Wizard, on_kubernetes: Project) -> None:
    wizard.ready()


def under(project: Project, *trees: Tree, by: User | None = None) -> None:
    """Give the project a policy with all of these trees."""
    merged: dict[str, Any] = {}
    for tree in trees:
        for section, content in tree.items():
            _merge(merged.setdefault(section, {}), content)
    make_policy(project, merged, by=by)


def _merge(into: dict[str, Any], other: dict[str, Any]) -> None:
    for key, value in other.items():
        if isinstance(value, dict):
            _merge(into.setdefault(key, {}), value)
        else:
            into[key] = value


def page_2(wizard: Wizard) -> str:
    return wizard.open(wizard.at(2)).page


def test_a_default_is_shown_with_its_policy(wizard: Wizard, project: Project) -> None:
    under(project, default("backoffLimit", 2), default("timeLimitSeconds", 7200))
    page = page_2(wizard)
    assert f"Uses 2 from {OWNER}." in page
    assert f"Uses 2 hours from {OWNER}." in page
    wizard.save(2, backoffLimit="4")
    assert f"Replaces 2 from {OWNER}." in page_2(wizard)
    wizard.press("reset:backoffLimit")
    assert f"Uses 2 from {OWNER}." in wizard.page


def test_a_locked_field_shows_its_value_and_who_can_change_it(
    wizard: Wizard, project: Project, administrator: User
) -> None:
    locked = rule("workingDir", canEdit=False, why="The data is there.")
    under(project, default("workingDir", "/data"), locked, by=administrator)
    page = page_2(wizard)
    assert f"Locked by {OWNER}: The data is there. Ask ada to change the policy." in page
    assert page.count('<fieldset class="locked') == 1
    assert 'name="worker-workingDir"' in page
    assert 'value="/data"' in page


def test_a_strayed_value_goes_back_to_that_of_the_policy(wizard: Wizard, project: Project) -> None:
    under(project, default("workingDir", "/data"), rule("workingDir", canEdit=False))
    wizard.save(2, **{"worker-workingDir": "/mine"})
    assert "Use the policy&#x27;s value" in page_2(wizard)
    wizard.press("reset:worker-workingDir")
    assert wizard.plan().is_submittable
    assert "Use the policy" not in wizard.page


def test_a_range_is_said_at_the_field_and_by_its_input(wizard: Wizard, project: Project) -> None:
    under(project, rule("numWorkers", min=2, max=8, step=2, why="Pairs"))
    page = page_2(wizard)
    assert f"2 to 8, in steps of 2 by {OWNER}: Pairs." in page
    assert 'step="2" min="2" max="8"' in page
    assert 'type="number"' in page


def test_options_are_chosen_from_a_list_that_keeps_another_answer(
    wizard: Wizard, project: Project
) -> None:
    wizard.save(2, **{"worker-workingDir": "/else"})
    options = [{"value": "/data", "displayed": "The data"}]
    under(project, rule("workingDir", options=options))
    page = page_2(wizard)
    assert '<option value="/data">The data</option>' in page
    assert '<option value="/else" selected>/else (not allowed)</option>' in page


def test_parts_of_list_items_are_limited(wizard: Wizard, project: Project) -> None:
    sizes = [{"value": "10G"}, {"value": "20G"}]
    under(
        project,
        rule("storage.pvc.attributes.claimInfo.size", options=sizes),
        rule("storage.pvc.attributes.claimInfo.storageClass", canEdit=False),
        default("storage.pvc.attributes.claimInfo.storageClass", "fast"),
    )
    wizard.save(2, **item("worker-storage-pvc", 0, claimInfo_size="10G", path="/scratch"))
    page = page_2(wizard)
    assert '<option value="10G" selected>10G</option>' in page
    assert page.count('<fieldset class="locked') == 1
    wizard.press("")
    (volume,) = wizard.draft.content.worker.values["storage"]["pvc"]
    assert volume["claimInfo"]["size"] == "10G"


def test_nothing_can_be_added_to_a_closed_list(wizard: Wizard, project: Project) -> None:
    under(
        project,
        rule("environmentVariables.instances", canAdd=False),
        rule("storage.hostPath.instances", canAdd=False, why="Nodes are shared"),
    )
    page = page_2(wizard)
    assert f"No further items by {OWNER}: Nodes are shared." in page
    assert page.count("disabled aria-describedby") == 2


def test_default_items_are_rows_and_locked_ones_are_fixed(wizard: Wizard, project: Project) -> None:
    variables = [{"name": "SEED", "value": "7"}, {"name": "DEBUG", "value": "1"}]
    under(
        project,
        default("environmentVariables.instances", variables),
        rule("environmentVariables.instances", locked=["SEED"]),
        default("tolerations.instances", [{"name": "gpu", "key": "gpu", "operator": "Exists"}]),
    )
    page = page_2(wizard)
    assert "SEED=7" in page
    assert f"locked by {OWNER}" in page
    assert "gpu, Exists" in page
    assert f'value="add:{VARIABLES}=SEED"' not in page
    wizard.press(f"add:{VARIABLES}=DEBUG")
    assert Inputs(wizard.page).values[f"{VARIABLES}-0-value"] == "1"
    assert f'value="add:{VARIABLES}=DEBUG"' not in wizard.page


def test_default_items_are_removed_and_restored_without_javascript(
    wizard: Wizard, project: Project
) -> None:
    under(
        project,
        default("environmentVariables.instances", [{"name": "DEBUG", "value": "1"}]),
        default("tolerations.instances", [{"name": "gpu", "key": "gpu", "operator": "Exists"}]),
        default("ports.instances", [{"name": "board", "container": 6006}]),
        rule("tolerations.instances", canAdd=False),
    )
    page_2(wizard)
    names = {"environmentVariables": "DEBUG", "tolerations": "gpu", "connections": "board"}
    for key, name in names.items():
        wizard.press(f"exclude:worker-{key}={name}")
        assert f"<del>{name}</del>" in wizard.page
        assert f'value="add:worker-{key}={name}"' not in wizard.page
        assert f"removed, from {OWNER}" in wizard.page
        assert wizard.plan().document["worker"].get(key, []) == []
    assert wizard.plan().is_submittable
    for key, name in names.items():
        wizard.press(f"restore:worker-{key}={name}")
        assert f"<del>{name}</del>" not in wizard.page
        assert [it["name"] for it in wizard.plan().document["worker"][key]] == [name]


def test_a_locked_item_has_no_button_that_removes_it(wizard: Wizard, project: Project) -> None:
    under(
        project,
        default("labels.instances", [{"name": "team", "value": "a"}]),
        rule("labels.instances", locked=["team"]),
    )
    page = page_2(wizard)
    assert 'value="exclude:worker-labels=team"' not in page
    wizard.press("exclude:worker-labels=team")
    (problem,) = wizard.plan().problems
    assert (problem.field, problem.rule) == ("worker.labels", "locked")


def test_a_card_that_breaks_rules_is_disabled_and_lists_them(
    wizard: Wizard, project: Project
) -> None:
    EnvironmentFactory(home=project, name="pinned", spec_json={"image": "reg.example.com/a"})
    ComputeResourceFactory(home=project, name="large", spec_json={"gpuDevicesRequest": 4})
    under(
        project,
        rule("image", startsWith="reg.example.com/"),
        rule("compute.gpuDevicesRequest", max=2),
    )
    page = page_2(wizard)
    assert page.count("popovertarget=") == 4, "each dialog has a second button to close it"
    assert "env-train breaks 1 rule" in page
    assert "large breaks 1 rule" in page
    assert f"GPU devices per pod must be at most 2 by {OWNER}." in page
    assert "pinned breaks" not in page


def test_a_template_that_breaks_rules_is_disabled_and_lists_them(
    wizard: Wizard, project: Project
) -> None:
    for name, workers in (("large", 9), ("small", 2)):
        document = wizard.draft.document | {"values": {"numWorkers": workers}}
        TemplateFactory(home=project, name=name, draft_json=document)
    under(project, rule("numWorkers", max=4), rule("workingDir", required=True))
    page = wizard.open(wizard.at(1)).page
    assert "large breaks 1 rule" in page
    assert f"Number of workers must be at most 4 by {OWNER}." in page
    assert "small breaks" not in page
    (large,) = re.findall(r'<input type="radio"[^>]*aria-labelledby="template-[^>]*disabled>', page)
    assert "checked" not in large


def test_rules_of_a_master_rule_out_what_it_inherits(wizard: Wizard, project: Project) -> None:
    under(project, {"rules": {"master": nest("image", {"startsWith": "reg.example.com/"})}})
    assert "env-train breaks 1 rule" in page_2(wizard)


def test_a_data_source_that_breaks_rules_cannot_be_chosen(wizard: Wizard, project: Project) -> None:
    source = DataSourceFactory(home=project, name="imagenet")
    under(project, rule("storage.nfs.instances", canAdd=False))
    wizard.save(2, **item("worker-dataSources", 0))
    page = page_2(wizard)
    assert f"<option disabled>imagenet: Not allowed by {OWNER}.</option>" in page
    assert f'<option value="{source.pk}"' not in page
    assert "imagenet breaks 1 rule" in page


def test_an_imposed_data_source_is_a_fixed_row(wizard: Wizard, project: Project) -> None:
    source = DataSourceFactory(home=project, name="imagenet")
    under(project, {"imposedAssets": {"worker": [str(source.pk)]}})
    page = page_2(wizard)
    assert f"imposed by {OWNER}" in page
    assert 'value="add:worker-dataSources=imagenet"' not in page


def test_the_review_says_what_policies_filled_in(wizard: Wizard, project: Project) -> None:
    under(
        project,
        default("backoffLimit", 2),
        default("labels.instances", [{"name": "team", "value": "a"}]),
    )
    page = wizard.open(wizard.at(3)).page
    assert "Labels, Backoff limit" in page
    assert f"by {OWNER}" in page


def test_the_summary_counts_violations_and_links_to_their_fields(
    wizard: Wizard, project: Project
) -> None:
    under(project, rule("backoffLimit", max=1), rule("image", startsWith="reg.example.com/"))
    wizard.save(2, backoffLimit="3")
    page = page_2(wizard)
    assert "2 things to fill in or fix" in page
    assert f"Image of the environment must start with reg.example.com/ by {OWNER}." in page
    assert '<a href="#backoffLimit">' in page


def test_frameworks_that_a_policy_does_not_list_cannot_be_chosen(
    wizard: Wizard, project: Project
) -> None:
    under(project, rule("distributedFramework", options=[{"value": "TF"}]))
    page = wizard.open(wizard.at(1)).page
    assert page.count(f"Not allowed by {OWNER}.") == 2 * 4, "at the cards, and in the list"
    assert f"Limited to these options by {OWNER}." in page
    (problem,) = wizard.plan().problems
    assert (problem.field, problem.rule) == ("distributedFramework", "options")


def test_a_new_draft_has_the_number_of_workers_of_a_policy(
    wizard: Wizard, project: Project
) -> None:
    under(project, default("numWorkers", 4))
    wizard.open().save(1, cluster=str(project.cluster_id), project=str(project.pk))
    assert f"Uses 4 from {OWNER}." in page_2(wizard)
    assert wizard.plan().document["numWorkers"] == 4
