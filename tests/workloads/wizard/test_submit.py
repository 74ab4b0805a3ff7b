"""CREATE TRAINING: once, with a name of its own, with the master that was asked for."""

import threading

import pytest
from django.db import connections

from projects.models import Project
from spec.problems.errors import SpecError
from tests.factories import (
    ComputeResourceFactory,
    EnvironmentFactory,
    ProjectFactory,
    UserFactory,
    WorkloadFactory,
    remove_members,
)
from tests.workloads.wizard.browser import Inputs, Wizard
from workloads import services
from workloads.models import Draft, Workload
from workloads.plan import Plan, plan
from workloads.wizard import actions

pytestmark = pytest.mark.django_db


def test_a_double_click_submits_once(wizard: Wizard) -> None:
    address = wizard.ready().at(3)
    first = wizard.client.post(address, {"action": "create"})
    second = wizard.client.post(address, {"action": "create"})
    workload = Workload.objects.get()
    assert first["Location"] == f"/workloads/?sel={workload.pk}"
    assert second["Location"] == f"/workloads/{workload.pk}/"


def test_the_back_button_leads_to_the_workload(wizard: Wizard) -> None:
    address = wizard.ready().at(3)
    wizard.client.post(address, {"action": "create"})
    workload = Workload.objects.get()
    assert wizard.client.get(address)["Location"] == f"/workloads/{workload.pk}/"


def test_a_name_taken_meanwhile_comes_back_on_its_field(wizard: Wizard, project: Project) -> None:
    wizard.ready().open(wizard.at(3))
    WorkloadFactory(project=project, name="train")
    wizard.press("create")
    assert wizard.status == 422
    assert "already exists in team-a; enter a different name" in wizard.page
    assert Inputs(wizard.page).values["name"] == "train"
    wizard.press("continue", name="train-2")
    wizard.open(wizard.at(3)).press("create")
    assert Workload.objects.filter(name="train-2").exists()


def test_the_later_of_two_submissions_of_a_name_is_refused(
    wizard: Wizard, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one commits between this one's look and its write."""
    wizard.ready()
    content = wizard.draft.content

    def looked(*args: object, **kwargs: object) -> Plan:
        made = plan(content, by=wizard.user)
        if not Workload.objects.exists():
            WorkloadFactory(project=project, name="train")
        return made

    monkeypatch.setattr(actions, "plan", looked)
    wizard.open(wizard.at(3)).press("create")
    assert wizard.status == 422
    assert "taken" in wizard.page
    assert Workload.objects.filter(name="train").count() == 1
    assert wizard.draft.content == content, "the draft is kept"


@pytest.mark.django_db(transaction=True)
def test_two_threads_that_submit_the_same_name_create_a_single_workload(wizard: Wizard) -> None:
    wizard.ready()
    content = wizard.draft.content
    start = threading.Barrier(2)
    outcomes: list[str] = []

    def submit() -> None:
        try:
            start.wait(10)
            services.submit(content, by=wizard.user)
            outcomes.append("created")
        except SpecError as error:
            outcomes.append(error.problems[0].field)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=submit) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(outcomes) == ["created", "name"]
    assert Workload.objects.count() == 1


def test_the_wizard_refuses_a_training_that_can_never_start(
    wizard: Wizard, project: Project
) -> None:
    huge = ComputeResourceFactory(home=project, spec_json={"gpuDevicesRequest": 3})
    wizard.ready()
    page = wizard.save(2, **{"worker-compute": str(huge.pk)})
    assert "Can never start" in page
    wizard.open(wizard.at(3)).press("create")
    assert wizard.status == 422
    assert not Workload.objects.exists()


def test_someone_who_left_the_project_cannot_submit(wizard: Wizard, project: Project) -> None:
    wizard.ready().open(wizard.at(3))
    remove_members(project)
    wizard.press("create")
    assert wizard.status == 422
    assert not Workload.objects.exists()


def test_an_environment_for_another_framework_is_refused(wizard: Wizard, project: Project) -> None:
    wizard.ready()
    tensorflow = EnvironmentFactory(home=project, name="tf", framework="TF")
    page = wizard.save(2, **{"worker-environment": str(tensorflow.pk)})
    assert "Environment is for TensorFlow; choose another." in page
    wizard.open(wizard.at(3)).press("create")
    assert not Workload.objects.exists()


def test_the_workload_knows_what_it_was_copied_from(wizard: Wizard, project: Project) -> None:
    wizard.ready("one").open(wizard.at(3)).press("create")
    one = Workload.objects.get()
    wizard.open(f"/workloads/new/?copy={one.pk}")
    assert "opens a new draft with the same settings" in wizard.page
    assert not Draft.objects.exists(), "a link copies nothing before it was asked"
    wizard.press("")
    assert wizard.address == wizard.at(1)
    assert Inputs(wizard.page).values["name"] == "one-copy"
    wizard.open(wizard.at(3)).press("create")
    copy = Workload.objects.get(name="one-copy")
    assert copy.copied_from == one
    assert copy.spec == one.spec


def test_a_workload_of_strangers_is_not_copied(wizard: Wizard) -> None:
    foreign = WorkloadFactory(project=ProjectFactory(members=[UserFactory()]))
    assert wizard.open(f"/workloads/new/?copy={foreign.pk}").status == 404
    assert wizard.open("/workloads/new/?copy=nonsense").status == 404
    assert not Draft.objects.exists()
