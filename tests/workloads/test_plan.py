"""A plan says everything that is wrong at once, and one submission is planned once."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from accounts.models import User
from assets.models import Template
from clusters.models import Cluster
from core.broker import enqueue
from projects.models import Project
from spec.draft import ReplicaDraft, WorkloadDraft
from tests.caller import Caller
from tests.factories import ClusterFactory, ProjectFactory, UserFactory
from tests.workloads.wizard.browser import Wizard
from workloads import plan as planning
from workloads import services
from workloads.models import Workload
from workloads.plan import add_contested_problems, plan
from workloads.submission import submit_all

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]
#: What the local engine has against the rest of it.
REFUSED = {"nodePools", "priorityClass", "worker.nodeType", "worker.restartPolicy"}


@pytest.fixture
def member() -> User:
    return UserFactory()


@pytest.fixture
def project(member: User) -> Project:
    return ProjectFactory(members=[member], name="team-a")


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the drafts that were planned, one for each time."""
    names: list[str] = []
    find_template = planning._find_template

    def counting(made: WorkloadDraft, project: Project | None, by: User) -> Template | None:
        names.append(made.name)
        return find_template(made, project, by)

    monkeypatch.setattr(planning, "_find_template", counting)
    return names


def draft(home: Project, /, **also: Any) -> WorkloadDraft:
    worker = ReplicaDraft(values={"image": "x:1", "compute": {"gpuDevicesRequest": 1}})
    content: dict[str, Any] = {"cluster": home.cluster_id, "project": home.pk}
    return WorkloadDraft(**{"name": "train", "worker": worker, **content, **also})


def demanding(home: Project, /, **also: Any) -> WorkloadDraft:
    values = {"image": "x:1", "nodeType": "dgx", "restartPolicy": "Never"}
    whole = {"nodePools": ["a100"], "priorityClass": "high"}
    worker = ReplicaDraft(values=values)
    return draft(home, worker=worker, values=whole, **also)


def fields(content: WorkloadDraft, by: User) -> list[str]:
    return sorted(problem.field for problem in plan(content, by=by).problems)


def test_every_complaint_of_the_engine_is_a_problem(project: Project, member: User) -> None:
    assert fields(demanding(project), member) == sorted(REFUSED)


@pytest.mark.parametrize(
    "wrong",
    [
        {"project": 10**6, "name": "Odd_Name"},
        {"project": None, "name": "Odd_Name"},
        {"name": "Odd_Name", "framework": "MPI"},
    ],
)
def test_a_wrong_asset_id_hides_no_other_problem_of_the_plan(
    project: Project, member: User, wrong: dict[str, Any]
) -> None:
    expected = REFUSED | (wrong.keys() - {"framework"})
    if "framework" in wrong:
        project.cluster.capabilities_json = {}
        project.cluster.save()
        expected |= {"framework"}
    assert fields(demanding(project, **wrong), member) == sorted(expected)


def test_a_project_of_another_cluster_is_compared_with_the_requested_one(
    project: Project, member: User
) -> None:
    other: Cluster = ClusterFactory(name="other", kind="kubernetes")
    ProjectFactory(cluster=other, members=[member])
    problems = plan(demanding(project, cluster=other.pk), by=member).problems
    messages = {problem.field: problem.message for problem in problems}
    assert messages["cluster"] == f"team-a belongs to the cluster {project.cluster.name}"
    assert "no PriorityClass" in messages["priorityClass"]


def test_a_cluster_that_nobody_has_is_said_beside_its_project(
    project: Project, member: User
) -> None:
    content = draft(project, cluster=uuid4(), project=10**6, name="")
    assert fields(content, member) == ["cluster", "name", "project"]


def test_rest_tells_all_of_it_at_once(project: Project, member: User) -> None:
    body = {
        "name": "Odd_Name",
        "projectId": str(10**6),
        "clusterId": str(project.cluster_id),
        "spec": {"image": "x:1", "nodeType": "dgx", "backoffLimit": 101},
    }
    status, answer = Caller(member)("POST", "/workloads/distributed", body)
    assert status == 400
    named = {issue["field"] for issue in answer["complianceIssues"]}
    assert {"projectId", "name", "spec.backoffLimit"} <= named


def test_form_and_rest_take_a_backoff_limit_of_none(project: Project, member: User) -> None:
    assert plan(draft(project, values={"backoffLimit": 0}), by=member).is_submittable
    spec = {"image": "x:1", "distributedFramework": "PyTorch", "backoffLimit": 0}
    place = {"projectId": str(project.pk), "clusterId": str(project.cluster_id)}
    body = {"name": "train", **place, "spec": spec}
    assert Caller(member)("POST", "/workloads/distributed", body)[0] == 202


def test_a_submission_is_planned_once(project: Project, member: User, planned: list[str]) -> None:
    services.submit(draft(project), by=member)
    assert planned == ["train"]
    planned.clear()
    with pytest.raises(ValueError, match="Odd"):
        services.submit(draft(project, name="Odd"), by=member)
    assert planned == ["Odd"]


def test_create_in_the_wizard_plans_once(
    member: User, project: Project, planned: list[str]
) -> None:
    wizard = Wizard(member).ready("good")
    page = wizard.open(wizard.at(3))
    planned.clear()
    page.press("create")
    assert Workload.objects.get().name == "good"
    assert planned == ["good"]


def test_create_that_is_refused_plans_once(
    member: User, project: Project, planned: list[str]
) -> None:
    wizard = Wizard(member).ready("good", values={"backoffLimit": 101})
    page = wizard.open(wizard.at(3))
    planned.clear()
    assert page.press("create").status == 422
    assert planned == ["good"]


def test_a_batch_plans_each_once(project: Project, member: User, planned: list[str]) -> None:
    submit_all([draft(project, name="one"), draft(project, name="two")], by=member)
    assert planned == ["one", "two"]
    planned.clear()
    with pytest.raises(ValueError, match="Odd"):
        submit_all([draft(project, name="Odd"), draft(project, name="four")], by=member)
    assert planned == ["Odd", "four"]


def test_a_taken_name_that_plan_and_contest_both_notice_is_said_once(
    project: Project, member: User
) -> None:
    services.submit(draft(project), by=member)
    made = plan(draft(project), by=member)
    add_contested_problems(made)
    assert [problem.field for problem in made.problems] == ["name"]


def test_a_refused_submission_has_the_cluster_checked_again(
    member: User, project: Project, sent: list[tuple[Any, ...]]
) -> None:
    """What it lacked may have been created a moment ago."""
    plan(demanding(project), by=member, submits=True)
    assert not sent, "it was just checked"
    project.cluster.checked_at = timezone.now() - timedelta(minutes=1)
    project.cluster.save()
    plan(demanding(project), by=member)
    assert not sent
    plan(demanding(project), by=member, submits=True)
    assert sent == [("clusters.look", project.cluster_id, enqueue.SUBMIT)]
