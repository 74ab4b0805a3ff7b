"""A command alone runs where the cluster needs no image, and nowhere else."""

import pytest

from projects.models import Project
from tests.workloads.wizard.browser import Wizard
from workloads.models import Workload

pytestmark = pytest.mark.django_db
COMMAND = "python -m trainer"


def without_an_environment(wizard: Wizard, **fields: str) -> Wizard:
    wizard.ready(worker={}).open(wizard.at(2))
    return wizard.press("save", **{"worker-compute": str(wizard.compute.pk)} | fields)


def test_a_command_alone_runs_on_this_machine(wizard: Wizard) -> None:
    without_an_environment(wizard, **{"worker-command": COMMAND}).press("continue")
    assert "<dt>Image</dt>" in wizard.page
    wizard.press("create")
    workload = Workload.objects.get()
    assert (workload.image, workload.spec.worker.image) == ("", None)
    assert workload.spec.worker.command == COMMAND
    assert wizard.client.get(workload.get_absolute_url()).status_code == 200
    assert wizard.client.get("/workloads/").status_code == 200


def test_neither_is_not_enough(wizard: Wizard) -> None:
    without_an_environment(wizard)
    assert "Select an environment." in wizard.page
    assert [it.message for it in wizard.plan().problems] == ["is required"]


def test_kubernetes_needs_an_image(wizard: Wizard, on_kubernetes: Project) -> None:
    without_an_environment(wizard, **{"worker-command": COMMAND})
    problems = {it.field: it.message for it in wizard.plan().problems}
    assert problems == {"worker.image": "is required on Kubernetes, whose pods run images"}
    wizard.press("save", **{"worker-image": "docker.io/library/python:3.11"})
    assert not wizard.plan().problems


def test_the_page_says_that_an_image_is_not_used(wizard: Wizard) -> None:
    image = {"worker-image": "some/image", "worker-command": COMMAND}
    without_an_environment(wizard, **image).press("continue")
    assert f"some/image, not used on {wizard.plan().cluster}" in wizard.page
    assert "is not used: this machine pulls no image" in wizard.page


@pytest.mark.parametrize(("found", "used"), [("", False), ("pyxis", True)])
def test_slurm_uses_an_image_where_it_starts_containers(
    wizard: Wizard, found: str, used: bool
) -> None:
    cluster = Project.objects.visible_to(wizard.user).get().cluster
    cluster.kind = "slurm"
    cluster.settings_json = {"directory": "/shared/trainyard"}
    frameworks = [{"framework": "PyTorch", "available": True}]
    cluster.capabilities_json = {"frameworks": frameworks, "queues": True, "containers": found}
    cluster.save()
    image = {"worker-image": "some/image", "worker-command": COMMAND}
    without_an_environment(wizard, **image)
    assert ("the cluster has neither pyxis nor apptainer" in wizard.page) is not used
