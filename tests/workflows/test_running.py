"""Groups start when their upstream has completed, and a workflow ends as they do."""

import socket
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from projects.models import Project
from spec.phases import Phase, Reason
from tests.factories import IMAGE, WorkloadFactory, remove_members
from tests.workflows.graphs import (
    advanced,
    group,
    put,
    run_of,
    statuses,
    submit,
    workload_of,
)
from workflows import running, starting
from workflows.models import GroupRun, Workflow
from workflows.statuses import Status
from workloads.history import events
from workloads.models import Workload
from workloads.models.choices import Source

RETRY = {"RESCHEDULE": [{"first": 3, "last": 5}]}
TIMES = {"exec_timeout_seconds": 60, "queue_timeout_seconds": 30}


def test_groups_start_once_their_upstream_has_completed(project: Project, member: User) -> None:
    workflow = submit(project, by=member)
    assert (workflow.label, workflow.status) == ("train-1", Status.PENDING)
    assert statuses(workflow) == {
        "data": Status.SCHEDULING,
        "left": Status.WAITING,
        "right": Status.WAITING,
        "report": Status.WAITING,
    }
    first = workload_of(workflow, "data")
    assert (first.name, first.source) == ("train-1-data", Source.WORKFLOW)
    assert first.spec.worker.args == "-c 'echo train-1'"
    put(workflow, "data", Phase.RUNNING)
    assert (workflow.status, workflow.started_at is None) == (Status.RUNNING, False)
    put(workflow, "data", Phase.COMPLETED, code=0)
    assert statuses(workflow)["left"] == statuses(workflow)["right"] == Status.SCHEDULING
    put(workflow, "left", Phase.COMPLETED, code=0)
    assert statuses(workflow)["report"] == Status.WAITING
    put(workflow, "right", Phase.COMPLETED, code=0)
    put(workflow, "report", Phase.COMPLETED, code=0)
    assert workflow.status == Status.COMPLETED
    assert workflow.completed_at
    assert Workload.objects.count() == 4


def test_no_two_groups_that_run_have_one_port(
    project: Project, member: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("random.sample", lambda ports, _: list(ports))
    with socket.create_server(("", starting.PORTS[0])):
        container = {"image": IMAGE, "command": "sh -c", "args": "29500"}
        document = {"kind": "training", "worker": container}
        first = submit(project, group("one", document=document), by=member)
        second = submit(project, group("one", document=document), by=member)
        ports = [workload_of(it, "one").spec.worker.args for it in (first, second)]
        assert ports == [str(starting.PORTS[1]), str(starting.PORTS[2])]
        with pytest.raises(IntegrityError), transaction.atomic():
            GroupRun.objects.update(port=starting.PORTS[3])
        put(first, "one", Phase.COMPLETED, code=0)
        third = submit(project, group("one", document=document), by=member)
        assert workload_of(third, "one").spec.worker.args == str(starting.PORTS[1])


def test_advancing_twice_starts_each_group_once(project: Project, member: User) -> None:
    workflow = submit(project, by=member)
    for _ in range(3):
        running.advance_all()
    assert Workload.objects.count() == 1
    # A process that is killed after the submission, and before the group knows of it, leaves this.
    GroupRun.objects.filter(name="data").update(status=Status.WAITING, workload=None)
    advanced(workflow)
    assert Workload.objects.count() == 1
    assert workload_of(workflow, "data").name == "train-1-data"


def test_a_failure_fails_what_needs_it_and_nothing_else(project: Project, member: User) -> None:
    workflow = submit(project, by=member)
    put(workflow, "data", Phase.COMPLETED, code=0)
    put(workflow, "left", Phase.FAILED, Reason.IMAGE_UNKNOWN, message="No such image.")
    assert statuses(workflow)["right"] == Status.SCHEDULING
    assert workflow.status == Status.RUNNING
    put(workflow, "right", Phase.COMPLETED, code=0)
    assert run_of(workflow, "left").failure == "No such image."
    assert statuses(workflow)["report"] == Status.UPSTREAM
    assert "left" in run_of(workflow, "report").failure
    assert workflow.status == Status.IMAGE_PULL


@pytest.mark.parametrize(
    ("actions", "code", "status"),
    [
        ({"COMPLETE": [{"first": 7, "last": 7}]}, 7, Status.COMPLETED),
        ({"COMPLETE": [{"first": 7, "last": 7}]}, 8, Status.FAILED),
        ({"FAIL": [{"first": 0, "last": 0}]}, 0, Status.FAILED),
        ({"COMPLETE": [{"first": 137, "last": 137}]}, -9, Status.COMPLETED),
    ],
)
def test_an_exit_action_decides_what_a_code_means(
    project: Project, member: User, actions: dict[str, object], code: int, status: Status
) -> None:
    workflow = submit(project, group("one", exit_actions=actions), by=member)
    phase = Phase.FAILED if code else Phase.COMPLETED
    put(workflow, "one", phase, Reason.RANK_FAILED if code else Reason.NONE, code=code)
    assert workflow.status == status


def test_reschedule_starts_a_group_again_a_few_times(project: Project, member: User) -> None:
    workflow = submit(project, group("one", exit_actions=RETRY), by=member)
    for retry in range(1, running.MOST_RETRIES + 1):
        put(workflow, "one", Phase.FAILED, Reason.RANK_FAILED, code=4)
        assert workload_of(workflow, "one").name == f"train-1-one-retry-{retry}"
    assert len(run_of(workflow, "one").workloads()) == running.MOST_RETRIES + 1
    put(workflow, "one", Phase.FAILED, Reason.RANK_FAILED, code=4)
    assert workflow.status == Status.FAILED
    assert running.OUT_OF_RETRIES in run_of(workflow, "one").failure


def test_a_group_that_waits_or_runs_for_too_long_is_ended(project: Project, member: User) -> None:
    workflow = submit(project, group("one", **TIMES), group("two", **TIMES), by=member)
    put(workflow, "one", Phase.RUNNING)
    put(workflow, "two", Phase.PENDING)
    assert workflow.status == Status.RUNNING
    long_ago = timezone.now() - timedelta(minutes=2)
    Workload.objects.update(phase_updated_at=long_ago)
    GroupRun.objects.update(scheduled_at=long_ago)
    advanced(workflow)
    assert statuses(workflow) == {"one": Status.EXEC_TIMEOUT, "two": Status.QUEUE_TIMEOUT}
    assert set(Workload.objects.values_list("phase", flat=True)) == {Phase.STOPPING}
    assert workflow.status == Status.EXEC_TIMEOUT


def test_a_group_whose_workload_somebody_stops_or_removes_is_canceled(
    project: Project, member: User
) -> None:
    workflow = submit(project, group("one"), group("two"), by=member)
    put(workflow, "one", Phase.STOPPED, Reason.STOPPED_BY_USER)
    workload_of(workflow, "two").delete()
    advanced(workflow)
    assert set(statuses(workflow).values()) == {Status.CANCELED}


def test_what_stands_against_a_later_group_fails_it_with_the_reason(
    project: Project, member: User
) -> None:
    taken = submit(project, group("one"), group("two", "one"), by=member)
    WorkloadFactory.create(project=project, name="train-1-two")
    put(taken, "one", Phase.COMPLETED, code=0)
    assert taken.status == Status.SUBMISSION
    assert "name" in run_of(taken, "two").failure
    removed = submit(project, group("one"), group("two", "one"), by=member)
    remove_members(project, member)
    put(removed, "one", Phase.COMPLETED, code=0)
    assert removed.status == Status.SUBMISSION
    assert "project" in run_of(removed, "two").failure


def test_the_end_of_a_workload_wakes_its_workflow(project: Project, member: User) -> None:
    workflow = submit(project, group("one"), by=member)
    workload = workload_of(workflow, "one")
    for phase, wakes in ((Phase.INITIALIZING, False), (Phase.RUNNING, False), (Phase.FAILED, True)):
        with patch("workloads.history.events.send_once") as send:
            assert workload.move(phase)
            events.record_phase(workload)
        assert any(call.args[0] == events.ADVANCE for call in send.call_args_list) is wakes


@pytest.mark.extended
def test_two_hundred_groups_start_and_complete(project: Project, member: User) -> None:
    names = [f"task-{number}" for number in range(200)]
    workflow = submit(project, group("first"), *(group(it, "first") for it in names), by=member)
    put(workflow, "first", Phase.COMPLETED, code=0)
    assert Workload.objects.count() == 201
    Workload.objects.update(phase=Phase.COMPLETED)
    assert advanced(workflow).status == Status.COMPLETED


def test_one_broken_workflow_does_not_keep_others_from_running(
    project: Project, member: User, caplog: pytest.LogCaptureFixture
) -> None:
    broken = submit(project, group("one"), by=member)
    GroupRun.objects.update(definition_json={}, status=Status.WAITING)
    other = submit(project, group("one"), by=member)
    GroupRun.objects.filter(workflow=other).update(status=Status.WAITING, workload=None)
    running.advance_all()
    assert run_of(other, "one").status == Status.SCHEDULING
    assert str(broken.pk) in caplog.text
    assert Workflow.objects.unfinished().count() == 2
