"""What a template locks, requires or hides: given where it is edited, kept to where it is used."""

from typing import Any

import pytest

from assets.models import Environment, Template
from projects.models import Project
from tests.factories import ComputeResourceFactory, EnvironmentFactory, TemplateFactory
from tests.workloads.wizard.browser import Inputs, Wizard, item
from workloads import services
from workloads.models import Workload

pytestmark = pytest.mark.django_db
LR = {"name": "LR", "value": "0.1"}
VARIABLES = "worker-environmentVariables"


@pytest.fixture
def template(project: Project) -> Template:
    environment = EnvironmentFactory(home=project, name="env-base")
    compute = ComputeResourceFactory(home=project, name="small")
    chosen = {"environment": str(environment.pk), "compute": str(compute.pk)}
    values = {"command": "python train.py", "environmentVariables": [LR]}
    document = {
        "architecture": "workers_only",
        "values": {"numWorkers": 2},
        "worker": {"assets": chosen, "values": values},
    }
    made: Template = TemplateFactory(home=project, name="base", draft_json=document)
    return made


def rule(template: Template, field: str, **said: Any) -> None:
    rules = template.draft_json.get("rules", [])
    template.draft_json["rules"] = [*rules, {"field": field, **said}]
    template.save()


def edit(wizard: Wizard, template: Template) -> Wizard:
    place = f"template={template.pk}&project={template.project_id}"
    return wizard.open(f"/workloads/new/?{place}&edit")


def use(wizard: Wizard, template: Template) -> Wizard:
    wizard.open(f"/workloads/new/?template={template.pk}&project={template.project_id}")
    wizard.save(1, name="mine")
    return wizard


def told(wizard: Wizard) -> dict[str, str]:
    return {problem.field: problem.message for problem in wizard.plan().problems}


def test_rules_are_given_while_a_template_is_edited(wizard: Wizard, template: Template) -> None:
    assert 'name="rule-framework"' in edit(wizard, template).page
    wizard.save(2, **{"rule-worker-image": "locked", "rule-worker-image-why": "One for all"})
    wizard.save(2, **{"rule-numWorkers": "required", "rule-worker-nodeType": "nonsense"})
    inputs = Inputs(wizard.open(wizard.at(2)).page).values
    assert inputs["rule-worker-image"] == "locked"
    assert inputs["rule-worker-image-why"] == "One for all"
    wizard.client.post(f"/workloads/drafts/{wizard.draft.pk}/template/", {"action": "update"})
    template.refresh_from_db()
    assert [it.model_dump(exclude_defaults=True) for it in template.draft.rules or ()] == [
        {"field": "numWorkers", "required": True},
        {"field": "worker.image", "locked": True, "why": "One for all"},
    ]


def test_a_locked_value_is_shown_and_cannot_be_entered(wizard: Wizard, template: Template) -> None:
    rule(template, "worker.command", locked=True, why="Tested by us.")
    rule(template, "worker.environmentVariables", locked=True)
    page = use(wizard, template).open(wizard.at(2)).page
    assert "Locked by template base: Tested by us." in page
    assert page.count('<fieldset class="locked') == 2
    assert wizard.plan().is_submittable


def test_a_changed_locked_value_is_a_problem_with_a_reset(
    wizard: Wizard, template: Template
) -> None:
    rule(template, "worker.command", locked=True, why="Tested by us")
    use(wizard, template).save(2, **{"worker-command": "python mine.py"})
    (problem,) = wizard.plan().problems
    whose = (problem.field, problem.rule, problem.source)
    assert whose == ("worker.command", "canEdit", "template base")
    assert problem.message == "is locked by template base: Tested by us; leave python train.py"
    wizard.open(wizard.at(2)).press("continue")
    assert "Command is locked by template base" in wizard.page
    assert "Back to the template" in wizard.page
    wizard.press("reset:worker-command")
    assert wizard.draft.content.worker.values["command"] == "python train.py"
    assert wizard.plan().is_submittable


@pytest.mark.parametrize(
    ("field", "posted"),
    [
        ("numWorkers", {"numWorkers": "3"}),
        ("worker.image", {"worker-image": "mine:1"}),
        ("worker.environmentVariables", {VARIABLES: "rows", f"{VARIABLES}-0-name": "LR"}),
        ("worker.storage.nfs", item("worker-storage-nfs", 0, server="nas", path="/a")),
        ("worker.compute.cpuCoreRequest", {"worker-compute-cpuCoreRequest": "2"}),
    ],
)
def test_any_field_can_be_locked(
    wizard: Wizard, template: Template, field: str, posted: dict[str, str]
) -> None:
    rule(template, field, locked=True)
    assert use(wizard, template).plan().is_submittable
    wizard.save(2, **posted)
    assert "is locked by template base" in told(wizard)[field]


def test_a_locked_asset_cannot_be_another_one(
    wizard: Wizard, template: Template, project: Project
) -> None:
    rule(template, "worker.environment", locked=True)
    other = EnvironmentFactory(home=project, name="other")
    use(wizard, template).save(2, **{"worker-environment": str(other.pk)})
    assert "is locked" in told(wizard)["worker.environment"]
    wizard.open(wizard.at(2)).press("reset:worker-environment")
    chosen = wizard.draft.content.worker.assets["environment"]
    assert chosen == Environment.objects.get(name="env-base").pk


def test_a_master_of_its_own_keeps_to_the_rules_of_the_workers(
    wizard: Wizard, template: Template
) -> None:
    template.draft_json["architecture"] = "workers_and_master"
    rule(template, "worker.command", locked=True)
    use(wizard, template).save(3, **{"master-different": "on"})
    assert wizard.plan().is_submittable
    wizard.save(3, **{"master-command": "python mine.py"})
    assert list(told(wizard)) == ["master.command"]


def test_a_required_field_that_is_empty_is_a_problem(wizard: Wizard, template: Template) -> None:
    rule(template, "worker.workingDir", required=True, why="The data is there")
    rule(template, "worker.image", required=True)
    use(wizard, template)
    said = {"worker.workingDir": "is required by template base: The data is there"}
    assert told(wizard) == said, "the environment brings an image"
    wizard.save(2, **{"worker-workingDir": "/tmp"})
    assert wizard.plan().is_submittable


def test_a_hidden_field_is_not_asked_and_stays_as_it_is(wizard: Wizard, template: Template) -> None:
    for field in ("worker.command", "worker.compute", "framework", "worker.tolerations"):
        rule(template, field, hidden=True)
    page = use(wizard, template).open(wizard.at(2)).page
    for name in ("worker-command", "worker-compute", "framework"):
        assert f'name="{name}"' not in page
        assert f'name="{name}"' not in wizard.open(wizard.at(1)).page
    spec = wizard.plan().spec
    assert spec
    assert spec.worker.command == "python train.py"
    wizard.save(2, **{"worker-command": "python mine.py"})
    assert "is locked" in told(wizard)["worker.command"]


def test_an_edited_template_is_no_workload_and_asks_for_no_name(
    wizard: Wizard, template: Template
) -> None:
    rule(template, "worker.command", locked=True)
    assert 'name="name"' not in edit(wizard, template).page
    wizard.save(2, **{"worker-command": "python better.py"})
    assert wizard.plan().problems == [], "the rules are for those who use it"
    wizard.open(wizard.at(2)).press("create")
    assert not Workload.objects.exists()


def test_an_update_from_a_workload_keeps_the_rules(wizard: Wizard, template: Template) -> None:
    rule(template, "worker.command", locked=True)
    content = use(wizard, template).draft.content
    services.update_template(template, content, by=wizard.user)
    template.refresh_from_db()
    assert [it.field for it in template.draft.rules or ()] == ["worker.command"]


def test_pasted_text_does_not_free_a_workload_of_a_template(
    wizard: Wizard, template: Template
) -> None:
    rule(template, "worker.command", locked=True)
    use(wizard, template)
    text = f"template: {template.name}\nrules: []\nspec: {{command: python mine.py}}\n"
    given = {"yaml": text, "version": str(wizard.draft.version)}
    answer = wizard.client.post(f"/workloads/drafts/{wizard.draft.pk}/yaml/", given)
    assert answer.status_code == 302
    assert wizard.draft.content.rules is None
    assert "worker.command" in told(wizard)
