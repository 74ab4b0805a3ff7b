"""Scheduling rules: a project inherits those of its department, and can only make them stricter."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from projects.departments import update_department
from projects.models import Department, Project
from projects.rules import LimitRule, NodeTypeRule, idle_limit_of, node_types_of, time_limit_of
from projects.services import create_project
from spec.kind import WorkloadKind
from spec.parts.scheduling import Preemptibility
from tests.factories import ClusterFactory, DepartmentFactory, ProjectFactory, UserFactory
from tests.projects.posts import project_form
from tests.web import signed_in

pytestmark = pytest.mark.django_db
TRAINING = WorkloadKind.TRAINING.traits
WORKSPACE = WorkloadKind.WORKSPACE.traits
HOUR = 3600


def in_department(department: Department, **rules: Any) -> Project:
    project: Project = ProjectFactory(
        name="vision", department=department, cluster=department.cluster, **rules
    )
    return project


def test_the_shorter_limit_of_project_and_department_holds() -> None:
    research = DepartmentFactory(name="research", training_job_time_limit_seconds=4 * HOUR)
    inherits = in_department(research)
    assert time_limit_of(inherits, TRAINING) == LimitRule(4 * HOUR, 4 * HOUR, "department research")
    assert time_limit_of(inherits, WORKSPACE) is None
    inherits.training_job_time_limit_seconds = HOUR
    assert time_limit_of(inherits, TRAINING) == LimitRule(HOUR, HOUR, "project vision")


def test_an_extension_never_goes_beyond_the_departments_own() -> None:
    research = DepartmentFactory(
        name="research", training_job_time_limit_seconds=2 * HOUR, extension_seconds=HOUR
    )
    strict = in_department(
        research, training_job_time_limit_seconds=HOUR, extension_seconds=9 * HOUR
    )
    rule = time_limit_of(strict, TRAINING)
    assert rule == LimitRule(HOUR, 3 * HOUR, "project vision")


def test_the_idle_limit_depends_on_kind_and_preemptibility() -> None:
    project = in_department(
        DepartmentFactory(),
        interactive_job_preempt_idle_duration_seconds=400,
        interactive_job_max_idle_duration_seconds=500,
        training_job_max_idle_duration_seconds=600,
    )
    firm = Preemptibility.NON_PREEMPTIBLE
    asked = [(WORKSPACE, None), (WORKSPACE, firm), (TRAINING, None), (TRAINING, firm)]
    limits = [idle_limit_of(project, *each) for each in asked]
    assert [limit and limit.seconds for limit in limits] == [400, 500, 600, 600]


def test_node_types_are_those_that_project_and_department_allow() -> None:
    research = DepartmentFactory(name="research", training_node_types=["a100", "h100"])
    project = in_department(research)
    assert node_types_of(project, TRAINING) == NodeTypeRule(("a100", "h100"), "department research")
    assert node_types_of(project, WORKSPACE) is None
    project.training_node_types = ["h100", "gone"]
    assert node_types_of(project, TRAINING) == NodeTypeRule(("h100",), "project vision")
    project.training_node_types = ["gone"]
    assert node_types_of(project, TRAINING) == NodeTypeRule(("a100", "h100"), "department research")


@pytest.mark.parametrize(
    ("rules", "column", "words"),
    [
        ({"training_job_time_limit_seconds": 5 * HOUR}, "training_job_time_limit_seconds", "4 h"),
        (
            {"training_job_max_idle_duration_seconds": 4 * HOUR},
            "training_job_max_idle_duration_seconds",
            "shorter than the time limit, 4 h",
        ),
        (
            {"training_job_max_idle_duration_seconds": 299},
            "training_job_max_idle_duration_seconds",
            "300",
        ),
        ({"training_node_types": ["cpu"]}, "training_node_types", "allows a100, not cpu"),
        ({"workspace_node_types": ["a b"]}, "workspace_node_types", "letters, digits"),
        ({"workspace_node_types": ["a", "a"]}, "workspace_node_types", "once"),
    ],
)
def test_a_rule_that_is_wrong_or_looser_is_refused(
    rules: dict[str, Any], column: str, words: str
) -> None:
    cluster = ClusterFactory(kind="kubernetes")
    DepartmentFactory(
        name="research",
        cluster=cluster,
        training_job_time_limit_seconds=4 * HOUR,
        training_node_types=["a100"],
    )
    admin = UserFactory(administrator=True)
    with pytest.raises(ValidationError) as caught:
        create_project(by=admin, name="p", cluster=cluster, department="research", rules=rules)
    assert words in str(caught.value.error_dict[column])


def test_this_machine_has_no_rules_for_node_types() -> None:
    department = DepartmentFactory()
    with pytest.raises(ValidationError, match="this machine has no node type"):
        update_department(
            department,
            by=UserFactory(administrator=True),
            name="lab",
            gpu_quota=None,
            cpu_quota=None,
            memory_quota=None,
            over_quota=True,
            rules={"training_node_types": ["a100"]},
        )


def test_the_form_of_a_project_sets_and_removes_rules() -> None:
    client = signed_in(UserFactory(administrator=True))
    cluster = ClusterFactory(kind="kubernetes")
    rules = {
        "training_job_time_limit_seconds": "2",
        "training_job_time_limit_seconds-unit": "hours",
        "training_node_types-0-item": "a100",
        "training_node_types-0-rest": "",
    }
    response = client.post("/projects/new/", project_form(cluster=cluster, **rules))
    project = Project.objects.get()
    assert project.training_job_time_limit_seconds == 2 * HOUR
    assert project.training_node_types == ["a100"]
    page = client.get(response["Location"]).content.decode()
    assert "2 h (project team-a)" in page
    assert "a100 (project team-a)" in page
    client.post(f"/projects/{project.pk}/edit/", project_form(cluster=cluster))
    project.refresh_from_db()
    assert project.training_job_time_limit_seconds is None
    assert project.training_node_types == []


def test_the_form_of_a_project_shows_its_departments_rules() -> None:
    department = DepartmentFactory(name="research", training_job_time_limit_seconds=HOUR)
    project = in_department(department)
    client = signed_in(UserFactory(administrator=True))
    page = client.get(f"/projects/{project.pk}/edit/").content.decode()
    assert "1 h (department research)" in page
    post = project_form(
        cluster=project.cluster,
        training_job_time_limit_seconds="1.5",
        **{"training_job_time_limit_seconds-unit": "hours"},
    )
    refused = client.post(f"/projects/{project.pk}/edit/", post)
    assert refused.status_code == 422
    assert "allows at most 1 h" in refused.content.decode()


@pytest.mark.parametrize(("kind", "asks"), [("local", False), ("kubernetes", True)])
def test_the_form_asks_for_node_types_where_there_are_some(kind: str, asks: bool) -> None:
    project = ProjectFactory(cluster=ClusterFactory(kind=kind))
    client = signed_in(UserFactory(administrator=True))
    page = client.get(f"/projects/{project.pk}/edit/").content.decode()
    assert ("Node types of trainings" in page) is asks
