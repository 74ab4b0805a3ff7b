"""Page 3: the master as the workers, of its own, or none at all."""

import pytest

from projects.models import Project
from spec.workload import Architecture
from tests.factories import ComputeResourceFactory
from tests.workloads.wizard.browser import Inputs, Wizard
from workloads.models import Workload

pytestmark = pytest.mark.django_db
TOGGLE = "Define a different setup for the master"


def test_the_master_inherits_the_workers_setup(wizard: Wizard) -> None:
    page = wizard.ready().open(wizard.at(3)).page
    assert TOGGLE in page
    assert Inputs(page).values["master-different"] == "off"
    assert "master-environment" not in page
    wizard.press("create")
    assert Workload.objects.get().spec.master is None


def test_a_master_of_its_own_begins_as_the_workers_are(wizard: Wizard) -> None:
    wizard.ready()
    wizard.save(2, **{"worker-command": "python work.py"})
    wizard.save(3, **{"master-different": "on"})
    values = Inputs(wizard.open(wizard.at(3)).page).values
    worker = wizard.draft.content.worker
    assert values["master-environment"] == str(worker.assets["environment"])
    assert values["master-compute"] == str(worker.assets["compute"])
    assert values["master-command"] == "python work.py"


def test_the_two_setups_are_submitted_apart(wizard: Wizard, project: Project) -> None:
    wizard.ready()
    compute = ComputeResourceFactory(home=project, spec_json={"cpuCoreRequest": 2.0})
    wizard.save(3, **{"master-different": "on"})
    changes = {"master-compute": str(compute.pk), "master-command": "python lead.py"}
    wizard.open(wizard.at(3)).press("create", **changes)
    spec = Workload.objects.get().spec
    assert spec.master is not None
    assert (spec.master.command, spec.worker.command) == ("python lead.py", None)
    assert (spec.master.compute.gpu_devices_request, spec.gpus()) == (0, 0.2)


def test_the_page_of_the_master_tells_what_is_wrong_with_it(wizard: Wizard) -> None:
    wizard.ready()
    wizard.save(3, **{"master-different": "on"})
    labels = {"master-labels": "rows", "master-labels-0-name": "no good"}
    page = wizard.save(3, **labels)
    assert "is not a label name" in page
    assert 'id="master-labels-0-notes" data-for="master-labels-0-name" data-invalid' in page


def test_a_master_of_its_own_that_is_switched_off_inherits_again(wizard: Wizard) -> None:
    wizard.ready()
    wizard.save(3, **{"master-different": "on"})
    wizard.open(wizard.at(3)).press("save", **{"master-different": "off"})
    assert wizard.draft.content.master is None


def test_workers_only_has_no_master_to_set_up(wizard: Wizard) -> None:
    wizard.ready()
    wizard.save(3, **{"master-different": "on"})
    wizard.save(1, architecture="workers_only")
    page = wizard.open(wizard.at(3)).page
    assert TOGGLE not in page
    assert "3 Review" in page
    wizard.press("create")
    workload = Workload.objects.get()
    assert workload.spec.architecture is Architecture.WORKERS_ONLY
    assert workload.num_pods == 2


def test_the_last_page_reviews_everything(wizard: Wizard) -> None:
    wizard.ready()
    page = wizard.open(wizard.at(3)).page
    for words in ("team-a", "from environment env-train", "from compute resource compute-train"):
        assert words in page


def test_the_wizard_reviews_the_fields_that_only_mpi_has(wizard: Wizard) -> None:
    values = {
        "slotsPerWorker": 2,
        "mpiLauncherCreationPolicy": "WaitForWorkersReady",
        "sshAuthMountPath": "/keys",
        "cleanPodPolicy": "All",
    }
    wizard.ready(framework="MPI", values=values)
    page = wizard.open(wizard.at(3)).page
    for words in ("Slots per worker", "After its workers", "/keys", "Pods to delete at the end"):
        assert words in page
    wizard.ready("plain", framework="MPI")
    page = wizard.open(wizard.at(3)).page
    for words in ("Slots per worker", "After its workers", "SSH auth", "Pods to delete"):
        assert words not in page
