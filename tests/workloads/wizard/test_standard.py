"""A standard training through the wizard: one pod, and nothing asked that only several need."""

import pytest
import yaml

from projects.models import Project
from tests.factories import WorkloadFactory
from tests.workloads.wizard.browser import Inputs, Wizard
from workloads.models import Workload
from workloads.wizard.pages import summary
from workloads.wizard.pages.outputs import Outputs

pytestmark = pytest.mark.django_db


def test_a_standard_training_goes_through_the_wizard(wizard: Wizard) -> None:
    wizard.ready().open(wizard.at(1)).press("save", kind="training")
    assert "Standard training" not in wizard.page
    for words in ("TensorFlow", "Workers only"):
        assert words not in wizard.page, "one pod has no framework"
    wizard.press("continue")
    assert wizard.address == wizard.at(2)
    assert "Number of workers" not in wizard.page
    assert "2 Training" in wizard.page
    wizard.press("continue")
    assert "3 Review" in wizard.page
    assert "Number of workers" not in wizard.page
    assert "different setup for the master" not in wizard.page
    wizard.press("create")
    workload = Workload.objects.get()
    assert (workload.kind, workload.num_pods, workload.spec.distributed_framework) == (
        "training",
        1,
        None,
    )
    page = wizard.client.get(workload.get_absolute_url()).content.decode()
    assert "Standard training" in page


def test_answers_for_several_pods_come_back_with_them(wizard: Wizard) -> None:
    wizard.ready().open(wizard.at(1))
    wizard.press("save", framework="JAX", architecture="workers_only")
    wizard.press("save", kind="training")
    wizard.press("save", kind="distributed")
    values = Inputs(wizard.page).values
    assert (values["framework"], values["architecture"]) == ("JAX", "workers_only")
    assert wizard.draft.content.values["numWorkers"] == 2


def test_a_draft_after_a_standard_training_is_one_too(wizard: Wizard, project: Project) -> None:
    WorkloadFactory(project=project, created_by=wizard.user, standard=True)
    content = wizard.open().draft.content
    assert (content.kind, content.framework) == ("training", "PyTorch")
    wizard.press("save", kind="distributed")
    assert Inputs(wizard.page).values["architecture"] == "workers_and_master"


def test_the_summary_submits_to_the_path_of_the_kind(wizard: Wizard) -> None:
    wizard.ready().open(wizard.at(1)).press("save", kind="training")
    planned = wizard.plan()
    forecast = summary.summarize(planned)
    outputs = Outputs(planned)
    assert (forecast.pods, forecast.ranks) == ("1", [])
    assert "/api/v1/workloads/trainings" in outputs.curl
    spec = yaml.safe_load(outputs.yaml)["spec"]
    assert not spec.keys() & {"kind", "numWorkers", "distributedFramework"}


def test_processes_per_pod_are_asked_of_a_standard_training_alone(wizard: Wizard) -> None:
    wizard.ready().open(wizard.at(1)).press("save", kind="training", framework="TF")
    wizard.open(wizard.at(2)).press("save", processesPerPod="4").press("continue")
    assert "<dt>Processes per pod</dt>" in wizard.page
    assert wizard.plan().require_ready().spec.processes_per_pod == 4
    wizard.open(wizard.at(1)).press("save", kind="workspace").open(wizard.at(2))
    assert "Processes per pod" not in wizard.page
    assert wizard.plan().require_ready().spec.processes_per_pod is None
