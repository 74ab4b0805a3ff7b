"""A workspace through the wizard: what a standard training asks, under its own name."""

import re

import pytest

from assets.models import Template
from projects.models import Project
from tests.factories import EnvironmentFactory, TemplateFactory, WorkloadFactory
from tests.workloads.wizard.browser import Wizard
from workloads.models import Workload
from workloads.wizard.pages.outputs import Outputs

pytestmark = pytest.mark.django_db
NEW = "/workloads/new/?kind=workspace"


def test_a_workspace_goes_through_the_wizard(wizard: Wizard) -> None:
    page = wizard.ready(kind="workspace").open(wizard.at(1)).page
    assert "New workspace" in page
    for words in ("New training", "Workload architecture", "TensorFlow", "Workers only"):
        assert words not in page
    wizard.press("continue")
    assert "2 Workspace" in wizard.page
    wizard.press("continue")
    assert "Create workspace" in wizard.page
    assert "Create training" not in wizard.page
    wizard.press("create")
    workload = Workload.objects.get()
    assert (workload.kind, workload.num_pods, workload.spec.kind.label) == (
        "workspace",
        1,
        "Workspace",
    )
    assert "Workspace" in wizard.client.get(workload.get_absolute_url()).content.decode()


def test_a_workspace_has_an_idle_limit_and_a_training_none(wizard: Wizard) -> None:
    wizard.ready(kind="workspace")
    assert 'name="idleLimitSeconds"' in wizard.open(wizard.at(2)).page
    wizard.save(2, idleLimitSeconds="2", **{"idleLimitSeconds-unit": "hours"})
    assert "Idle limit" in wizard.open(wizard.at(3)).page
    wizard.press("create")
    assert Workload.objects.get().spec.idle_limit_seconds == 7200
    wizard.ready("other", values={"numWorkers": 2, "idleLimitSeconds": 7200})
    assert 'name="idleLimitSeconds"' not in wizard.open(wizard.at(2)).page
    assert wizard.plan().is_submittable


def test_the_menu_begins_a_workspace_or_a_training(wizard: Wizard) -> None:
    assert f'href="{NEW}"' in wizard.open("/workloads/").page
    assert wizard.open(NEW).draft.content.kind == "workspace"
    assert wizard.open().draft.content.kind == "distributed"
    assert wizard.open("/workloads/new/?kind=nothing").draft.content.kind == "distributed"


def test_a_training_after_a_workspace_is_like_the_last_training(
    wizard: Wizard, project: Project
) -> None:
    WorkloadFactory(project=project, created_by=wizard.user, standard=True)
    WorkloadFactory(project=project, created_by=wizard.user, workspace=True)
    assert wizard.open().draft.content.kind == "training"


def test_the_summary_submits_to_the_path_of_workspaces(wizard: Wizard) -> None:
    wizard.ready(kind="workspace")
    assert "/api/v1/workloads/workspaces" in Outputs(wizard.plan()).curl


def test_a_workspace_begins_with_templates_of_workspaces(wizard: Wizard, project: Project) -> None:
    TemplateFactory(home=project, name="gang")
    TemplateFactory(home=project, name="desk", draft_json={"kind": "workspace"})
    page = wizard.ready(kind="workspace").open(wizard.at(1)).page
    assert ("desk" in page, "gang" in page) == (True, False)
    wizard.save(1, template=str(Template.objects.get(name="desk").pk))
    assert wizard.draft.content.kind == "workspace"
    page = wizard.ready("other", kind="training").open(wizard.at(1)).page
    assert ("desk" in page, "gang" in page) == (False, True)


@pytest.mark.parametrize(
    ("kind", "order"),
    [
        ("workspace", ["lab", "env-train", "jax"]),
        ("training", ["env-train", "jax", "lab"]),
        ("distributed", ["torch", "env-train"]),
    ],
)
def test_environments_that_suit_a_kind_of_workload_are_offered_first(
    wizard: Wizard, project: Project, kind: str, order: list[str]
) -> None:
    wizard.ready(kind=kind)
    port = {"name": "Lab", "containerPort": 8888}
    lab = EnvironmentFactory(home=project, name="lab")
    lab.spec_json |= {"connections": [port]}
    lab.save()
    EnvironmentFactory(home=project, name="jax", framework="JAX")
    EnvironmentFactory(home=project, name="torch", framework="PyTorch")
    page = wizard.open(wizard.at(2)).page
    titles = re.findall(r'id="worker-environment-[\w-]+-title">([^<]+)<', page)
    places = [titles.index(name) for name in order]
    assert places == sorted(places), titles
