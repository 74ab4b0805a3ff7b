"""Seed 000, "User Interface", word for word and without JavaScript, up to the workload's row."""

import pytest

from projects.models import Project
from spec.framework import Framework
from spec.workload import Architecture
from tests.assets import posts
from tests.workloads.wizard.browser import Inputs, Wizard
from workloads.models import Draft, Source, Workload

pytestmark = pytest.mark.django_db


def create(wizard: Wizard, asset: dict[str, object]) -> None:
    """Fill in the asset's own page and follow it back."""
    wizard._take(wizard.client.post(wizard.full_address, asset, follow=True))


def test_seed_000_makes_one_master_and_two_workers(wizard: Wizard, project: Project) -> None:
    wizard.open()
    wizard.press(
        "continue",
        cluster=str(project.cluster_id),
        project=project.pk,
        framework="PyTorch",
        architecture="workers_and_master",
        template="",
        name="mnist",
    )
    assert wizard.address == wizard.at(2)

    wizard.press("new:environment:worker")
    create(wizard, posts.environment(project))
    assert wizard.address == wizard.at(2)
    assert Inputs(wizard.page).values["worker-environment"] == str(wizard.environment.pk)

    wizard.press("new:compute:worker", numWorkers="2")
    create(wizard, posts.compute(project))
    values = Inputs(wizard.page).values
    assert values["worker-compute"] == str(wizard.compute.pk)
    assert values["numWorkers"] == "2"

    wizard.press("continue")
    assert wizard.address == wizard.at(3)
    wizard.press("create")
    assert wizard.address == "/workloads/"

    workload = Workload.objects.get()
    assert set(workload.assets.values_list("role", "kind", "asset_id")) == {
        ("worker", "environment", wizard.environment.pk),
        ("worker", "compute", wizard.compute.pk),
    }
    assert not Draft.objects.exists()
    check(workload)


def check(workload: Workload) -> None:
    """One master and two workers, each with a tenth of a GPU, 0.1 cores and 100 MB."""
    spec = workload.spec
    assert (workload.name, workload.source, workload.num_pods) == ("mnist", Source.FORM, 3)
    assert (spec.distributed_framework, spec.num_workers) == (Framework.PYTORCH, 2)
    assert spec.architecture is Architecture.WORKERS_AND_MASTER
    assert spec.master is None
    assert spec.worker.image == "kubeflow/pytorch-dist-mnist:latest"
    assert spec.worker.compute.gpu_devices_request == 1
    assert spec.worker.compute.gpu_portion_request == 0.1
    assert spec.worker.compute.cpu_core_request == 0.1
    assert spec.worker.compute.cpu_memory_request == "100M"
    assert workload.gpus == 0.3
    assert [rank.rank for rank in workload.ranks.order_by("rank")] == [0, 1, 2]


def test_the_pages_speak_as_the_documents_do(wizard: Wizard) -> None:
    wizard.ready()
    texts = {
        1: ["Cluster", "Project", "Workload architecture", "Standard", "Distributed", "PyTorch",
            "TensorFlow", "XG Boost", "MPI", "Workers &amp; master", "Workers only",
            "Start from scratch", "Name", "Continue"],
        2: ["+NEW ENVIRONMENT", "+NEW COMPUTE RESOURCE", "+ENVIRONMENT VARIABLE", "+LABEL",
            "+ANNOTATION", "Number of workers", "Grace period", "Backoff limit",
            "Timeframe for auto-deletion", "+COMMAND &amp; ARGUMENTS", "Command", "Arguments"],
        3: ["Define a different setup for the master", "Create training"],
    }  # fmt: skip
    for step, words in texts.items():
        page = wizard.open(wizard.at(step)).page
        for word in words:
            assert word in page, (step, word)


def test_continue_on_the_first_page_checks_the_first_page_only(wizard: Wizard) -> None:
    wizard.open().press("continue", name="")
    assert wizard.status == 422
    assert "Name is required." in wizard.page
    assert "autofocus" in wizard.page
    wizard.press("continue", name="train")
    assert wizard.address == wizard.at(2)


def test_create_is_refused_with_every_problem_at_once(wizard: Wizard) -> None:
    wizard.open()
    wizard.open(wizard.at(3)).press("create")
    assert wizard.status == 422
    for words in ("Name is required.", "Select an environment.", "Select a compute resource."):
        assert words in wizard.page
    assert not Workload.objects.exists()


def test_back_keeps_the_page(wizard: Wizard) -> None:
    wizard.ready()
    wizard.open(wizard.at(2)).press("back", **{"worker-command": "python x.py"})
    assert wizard.address == wizard.at(1)
    assert wizard.draft.content.worker.values["command"] == "python x.py"
