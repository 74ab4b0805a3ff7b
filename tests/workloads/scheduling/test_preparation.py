"""Workloads wait while a cluster prepares what they need, and start without a further click."""

from pathlib import Path

import pytest

from accounts.models import User
from clusters.kinds import local
from clusters.models import Cluster
from engines.local.interpreter.choice import Interpreter, Origin
from engines.local.interpreter.record import write_record
from engines.preparation import Preparation, PreparationStage
from projects.models import Project
from spec.phases import Phase, Reason
from tests.factories import UserFactory, workload_spec
from tests.web import signed_in
from tests.workloads.gangs import phases, waiting
from workloads.scheduling import admission
from workloads.scheduling.fit.foresight import predict
from workloads.scheduling.fit.judge import Answer

FETCHING = Preparation(
    PreparationStage.FETCHING, done=1_200_000_000, total=2_900_000_000, speed=5e7
)
FAILED = Preparation(PreparationStage.FAILED, problem="pip: no route.", advice="Check the network.")
READY = Preparation(PreparationStage.READY, summary="Python 3.11.2 with torch 2.13.0.")


@pytest.fixture
def interpreter(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Interpreter:
    """The Python that Trainyard installs on the cluster, which is this machine."""
    Cluster.objects.update(kind=local.LOCAL.slug)
    project.cluster.refresh_from_db()
    python = tmp_path / "python-1" / "bin" / "python"
    interpreter = Interpreter(Origin.INSTALLED, python, tmp_path)
    monkeypatch.setattr(local, "interpreter", lambda: interpreter)
    return interpreter


def test_a_workload_waits_for_the_preparation_and_starts_after_it(
    project: Project, interpreter: Interpreter
) -> None:
    workload = waiting(project, "a", gpus=1)
    assert admission.admit_waiting(project.cluster) == 0
    write_record(interpreter, FETCHING)
    assert admission.admit_waiting(project.cluster) == 0
    workload.refresh_from_db()
    assert workload.reason == Reason.CLUSTER_UNAVAILABLE
    assert "1.2 of 2.9 GB" in workload.message
    write_record(interpreter, READY)
    assert admission.admit_waiting(project.cluster) == 1
    assert phases(workload) == [Phase.INITIALIZING]


def test_the_verdict_before_submission_says_what_it_waits_for(
    project: Project, interpreter: Interpreter
) -> None:
    write_record(interpreter, FETCHING)
    fit = predict(project.cluster, project, workload_spec(workers=1)).fit
    assert fit.answer is Answer.LATER
    assert fit.cause
    assert "1.2 of 2.9 GB" in fit.cause.message


def test_pages_show_the_progress_until_it_is_over(
    project: Project, interpreter: Interpreter
) -> None:
    client = signed_in(UserFactory.create(administrator=True))
    write_record(interpreter, FETCHING)
    for page in ("/", project.cluster.get_absolute_url()):
        assert 'value="1200000000" max="2900000000"' in client.get(page).text
    fragment = f"/clusters/{project.cluster.pk}/preparation/"
    assert "34 s left" in client.get(fragment, headers={"HX-Request": "true"}).text
    write_record(interpreter, READY)
    assert client.get(fragment, headers={"HX-Request": "true"}).status_code == 286
    assert READY.summary in client.get(project.cluster.get_absolute_url()).text


def test_only_who_may_change_the_cluster_tries_again(
    project: Project, member: User, interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_record(interpreter, FAILED)
    tried: list[Interpreter] = []
    monkeypatch.setattr(local, "prepare_again", tried.append)
    again = f"/clusters/{project.cluster.pk}/preparation/again/"
    researcher = signed_in(member)
    assert "Try again" not in researcher.get("/").text
    assert researcher.post(again).status_code == 403
    administrator = signed_in(UserFactory.create(administrator=True))
    page = administrator.get("/").text
    assert "pip: no route." in page
    assert "Check the network." in page
    assert again in page
    administrator.post(again)
    assert tried == [interpreter]
