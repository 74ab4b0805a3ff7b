"""What people do with workflows: submit, cancel, restart and delete."""

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied

from accounts.models import User
from audit.models import AuditEntry
from core.deletion import InUse
from projects.models import Project
from spec.phases import Phase, Reason
from spec.problems.errors import SpecError
from tests.factories import ClusterFactory, ProjectFactory, UserFactory
from tests.workflows.graphs import (
    advanced,
    chain,
    definitions_of,
    graph,
    group,
    put,
    run_of,
    statuses,
    submit,
    workload_of,
)
from workflows import services
from workflows.models import Priority, Workflow
from workflows.starting import LONGEST_NAME, draft_of, find_problems, workload_name
from workflows.statuses import Status
from workloads.models import Workload
from workloads.services import NotPossible


def test_runs_of_a_name_are_numbered_and_no_number_is_used_twice(
    project: Project, member: User, sent: list[tuple[Any, ...]]
) -> None:
    first = services.submit(chain(), project=project, by=member)
    second = services.submit(chain(), project=project, by=member)
    other = services.submit(graph(group("a"), name="other"), project=project, by=member)
    assert [it.label for it in (first, second, other)] == ["train-1", "train-2", "other-1"]
    services.cancel(second, by=member)
    services.delete(second, by=member)
    assert services.submit(chain(), project=project, by=member).label == "train-3"


def test_every_problem_of_every_group_is_told_and_nothing_is_created(
    project: Project, member: User
) -> None:
    bad = {"kind": "training", "worker": {"image": ""}}
    odd = {"kind": "training", "worker": {"image": "a:1"}, "nodePools": ["none"]}
    made = graph(group("one", document=bad), group("two", document=odd))
    with pytest.raises(SpecError) as refused:
        services.submit(made, project=project, by=member)
    fields = [problem.field for problem in refused.value.problems]
    assert {field.partition(".")[0] for field in fields} == {"one", "two"}
    assert not Workflow.objects.exists()


def test_slurm_says_at_each_group_what_it_refuses(member: User) -> None:
    settings = {"directory": "/shared", "host": "login", "run_as": "people"}
    cluster = ClusterFactory(kind="slurm", settings_json=settings)
    project = ProjectFactory(cluster=cluster, members=[member])
    reading = group("two", "one", inputs=[{"task": "one"}])
    kept = graph(group("one", keeps_output=True), reading)
    problems = find_problems(kept, project=project, priority=Priority.NORMAL, by=member)
    places = [problem.field for problem in problems if "people's own names" in problem.message]
    assert places == [f"{name}.worker.storage.pvc.0.claimName" for name in ("one", "two")]


def test_the_priority_of_a_workflow_is_that_of_its_workloads(
    project: Project, member: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    workflow = submit(project, group("one"), by=member, priority=Priority.HIGH)
    assert workload_of(workflow, "one").priority == "", "this machine starts by quota and age"
    monkeypatch.setattr("workflows.starting.why_withheld", lambda cluster, field: "")
    (definition,) = definitions_of(workflow)
    draft = draft_of(definition, label="a-1", project=project, priority=Priority.HIGH)
    assert draft.values["priorityClass"] == "high"


def test_cancel_stops_what_runs_and_starts_nothing_else(project: Project, member: User) -> None:
    workflow = submit(project, by=member)
    put(workflow, "data", Phase.COMPLETED, code=0)
    put(workflow, "left", Phase.RUNNING)
    services.cancel(workflow, by=member, message="Wrong data")
    assert workflow.status == Status.CANCELED
    assert statuses(workflow)["data"] == Status.COMPLETED
    assert run_of(workflow, "report").failure == "Wrong data"
    assert workload_of(workflow, "left").phase == Phase.STOPPING
    advanced(workflow)
    assert Workload.objects.count() == 3
    with pytest.raises(NotPossible):
        services.cancel(workflow, by=member)


def test_restart_runs_what_did_not_complete_and_reads_from_what_did(
    project: Project, member: User
) -> None:
    inputs = [{"task": "data"}, {}]
    workflow = submit(
        project,
        group("data", keeps_output=True),
        group("fit", "data", inputs=inputs),
        group("rest", "fit"),
        by=member,
    )
    with pytest.raises(NotPossible):
        services.restart(workflow, by=member)
    put(workflow, "data", Phase.COMPLETED, code=0)
    put(workflow, "fit", Phase.FAILED, Reason.RANK_FAILED, code=1)
    again = advanced(services.restart(workflow, by=member))
    assert (again.label, again.restarted_from) == ("train-2", workflow)
    with pytest.raises(NotPossible, match="was restarted as train-2"):
        services.restart(workflow, by=member)
    assert statuses(again) == {"fit": Status.SCHEDULING, "rest": Status.WAITING}
    (task,) = run_of(again, "fit").definition.tasks
    assert [given.workflow for given in task.inputs] == ["train-1", ""]
    (claim,) = workload_of(again, "fit").spec.worker.storage.pvc
    assert (claim.claim_name, claim.read_only) == ("train-1-data-output", True)


def test_only_the_output_of_a_completed_task_of_the_project_is_read(
    project: Project, member: User
) -> None:
    reading = group("fit", inputs=[{"workflow": "train-1", "task": "data"}])
    with pytest.raises(SpecError, match="fit reads train-1:data, which has no output in project"):
        submit(project, reading, by=member)
    earlier = submit(project, group("data", keeps_output=True), by=member)
    with pytest.raises(SpecError, match="has no output"):
        submit(project, reading, by=member)
    put(earlier, "data", Phase.COMPLETED, code=0)
    assert submit(project, reading, by=member).status == Status.PENDING
    elsewhere = ProjectFactory.create(members=[member])
    with pytest.raises(SpecError, match="has no output"):
        submit(elsewhere, reading, by=member)


def test_delete_takes_a_finished_workflow_and_its_workloads(project: Project, member: User) -> None:
    workflow = submit(project, group("one"), by=member)
    with pytest.raises(InUse, match="cancel it first"):
        services.delete(workflow, by=member)
    put(workflow, "one", Phase.COMPLETED, code=0)
    services.delete(workflow, by=member)
    assert not Workflow.objects.exists()
    assert Workload.objects.get().phase == Phase.DELETING
    verbs = AuditEntry.objects.filter(target_kind="workflow").values_list("verb", flat=True)
    assert set(verbs) == {"create", "delete"}


def test_who_may_see_and_change_a_workflow_may_do_so_with_workloads(project: Project) -> None:
    member, stranger = UserFactory.create_batch(2)
    other = ProjectFactory.create(members=[member])
    workflow = services.submit(graph(group("one")), project=other, by=member)
    assert list(Workflow.objects.visible_to(member)) == [workflow]
    assert not Workflow.objects.visible_to(stranger)
    for act in (services.cancel, services.restart, services.delete):
        Workflow.objects.update(status=Status.FAILED)
        workflow.refresh_from_db()
        with pytest.raises((PermissionDenied, NotPossible)) as refused:
            act(workflow, by=stranger)
        assert refused.type is not NotPossible, act
    with pytest.raises(PermissionDenied):
        services.submit(chain(), project=other, by=stranger)


def test_names_of_workloads_are_labels_however_long_those_of_groups_are() -> None:
    assert workload_name("Train_It-3", "pre_process") == "train-it-3-pre-process"
    long = "x" * 64
    names = {workload_name(f"{long}-1", f"{long}{end}") for end in "ab"}
    assert len(names) == 2
    assert all(len(name) <= LONGEST_NAME for name in names)
