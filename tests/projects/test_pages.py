"""Projects: who sees and changes them, the quota's bars, and what keeps one from going."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from projects.models import Project
from projects.services import update_project
from tests.factories import ClusterFactory, ProjectFactory, UserFactory, WorkloadFactory
from tests.projects.posts import project_form
from tests.web import DRAWER, HTMX, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def administrator() -> Client:
    return signed_in(UserFactory(administrator=True))


def test_the_pages_of_projects_ask_for_signing_in(client: Client) -> None:
    project = ProjectFactory()
    for page in ("", "new/", f"{project.pk}/", f"{project.pk}/edit/", f"{project.pk}/delete/"):
        response = client.get(f"/projects/{page}")
        assert response["Location"].startswith("/accounts/login/")


def test_researchers_see_their_projects_and_change_none() -> None:
    user = UserFactory()
    mine = ProjectFactory(members=[user])
    other = ProjectFactory()
    client = signed_in(user)
    page = client.get("/projects/").content.decode()
    assert mine.name in page
    assert other.name not in page
    assert "+New project" not in page
    assert client.get(f"/projects/{mine.pk}/").status_code == 200
    assert client.get(f"/projects/{other.pk}/").status_code == 404
    for address in ("new/", f"{mine.pk}/edit/", f"{mine.pk}/delete/"):
        assert client.get(f"/projects/{address}").status_code == 403
        assert client.post(f"/projects/{address}", project_form()).status_code == 403
    assert Project.objects.count() == 2


def test_someone_without_a_project_is_told_whom_to_ask() -> None:
    page = signed_in(UserFactory()).get("/projects/").content.decode()
    assert "Ask an administrator to add you" in page


def test_a_project_is_made_with_its_department_and_members(administrator: Client) -> None:
    member = UserFactory()
    post = project_form(cpu_quota="8", memory_quota="1.5", members=[member.pk])
    response = administrator.post("/projects/new/", post)
    project = Project.objects.get()
    assert response["Location"] == f"/projects/{project.pk}/"
    assert (project.name, project.department.name) == ("team-a", "research")
    assert (project.gpu_quota, project.cpu_quota) == (2, 8)
    assert project.memory_quota == 1_500_000_000
    assert list(project.members.all()) == [member]


def test_a_department_that_exists_is_used_again(administrator: Client) -> None:
    project = ProjectFactory()
    post = project_form(cluster=project.cluster, department=project.department.name)
    administrator.post("/projects/new/", post)
    assert Project.objects.get(name="team-a").department == project.department


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"name": ""}, "name", "is required"),
        ({"name": "Team A"}, "name", "lower-case"),
        ({"name": "n" * 41}, "name", "at most 40"),
        ({"description": "d" * 251}, "description", "at most 250"),
        ({"department": ""}, "department", "is required"),
        ({"department": "The Lab"}, "department", "lower-case"),
        ({"gpu_quota": "-1"}, "gpu_quota", "greater than or equal to 0"),
        ({"gpu_quota": "many"}, "gpu_quota", "number"),
        ({"cpu_quota": "-1"}, "cpu_quota", "greater than or equal to 0"),
        ({"memory_quota": "-1"}, "memory_quota", "greater than or equal to 0"),
        ({"memory_quota": "1e300"}, "memory_quota", "number"),
        ({"members": ["999"]}, "members", "valid choice"),
        ({"rank": "first"}, "rank", "valid choice"),
        ({"cluster": "nonsense"}, "cluster", "valid choice"),
    ],
)
def test_a_bad_value_names_its_field(
    administrator: Client, changes: dict[str, Any], field: str, words: str
) -> None:
    response = administrator.post("/projects/new/", project_form() | changes)
    assert response.status_code == 422
    assert words in response.context["form"].errors[field][0]
    assert not Project.objects.exists()


def test_a_name_is_taken_once_a_cluster(administrator: Client) -> None:
    project = ProjectFactory(name="team-a")
    response = administrator.post("/projects/new/", project_form(cluster=project.cluster))
    assert response.status_code == 422
    assert "already exists" in response.content.decode()
    assert administrator.post("/projects/new/", project_form()).status_code == 302


def test_an_edit_from_the_drawer_keeps_the_cluster(administrator: Client) -> None:
    project = ProjectFactory()
    address = f"/projects/{project.pk}/edit/"
    assert "<html" not in administrator.get(address, **DRAWER).content.decode()
    response = administrator.post(address, project_form(name="renamed", over_quota=""), **DRAWER)
    assert response.status_code == 204
    was = project.cluster
    project.refresh_from_db()
    assert (project.name, project.over_quota, project.cluster) == ("renamed", False, was)


def test_a_rank_is_chosen_and_stays_until_another_is(administrator: Client) -> None:
    administrator.post("/projects/new/", project_form(rank="very-high"))
    project = Project.objects.get(name="team-a")
    assert project.rank == "very-high"
    address = f"/projects/{project.pk}/edit/"
    assert administrator.get(address).context["form"]["rank"].value == "very-high"
    assert "Very high" in administrator.get(project.get_absolute_url()).content.decode()


def test_a_namespace_with_workloads_keeps_the_name_of_its_project(administrator: Client) -> None:
    project = ProjectFactory(name="vision", cluster=ClusterFactory(kind="kubernetes"))
    workload = WorkloadFactory(name="digits", project=project, stopped=True)
    address = f"/projects/{project.pk}/edit/"
    response = administrator.post(address, project_form(name="sight"))
    assert response.status_code == 422
    (words,) = response.context["form"].errors["name"]
    assert words.startswith("vision keeps its name while it has workloads")
    assert "is named after it: digits." in words
    assert (
        administrator.post(address, project_form(name="vision", gpu_quota="7")).status_code == 302
    )
    project.refresh_from_db()
    assert (project.name, project.gpu_quota) == ("vision", 7)
    workload.deleted_at = workload.created_at
    workload.save()
    assert administrator.post(address, project_form(name="sight")).status_code == 302
    project.refresh_from_db()
    assert project.name == "sight"


def test_a_name_that_stays_hides_no_other_fault(administrator: Client) -> None:
    project = ProjectFactory(name="vision", cluster=ClusterFactory(kind="kubernetes"))
    WorkloadFactory(project=project, stopped=True)
    posted = project_form(name="sight", gpu_quota="-1", department="Not a name!")
    errors = administrator.post(f"/projects/{project.pk}/edit/", posted).context["form"].errors
    assert {"name", "gpu_quota", "department"} <= set(errors)


def test_a_page_drawn_before_a_rename_does_not_take_it_back() -> None:
    project = ProjectFactory(name="vision", cluster=ClusterFactory(kind="kubernetes"))
    drawn = Project.objects.get(pk=project.pk)
    Project.objects.update(name="sight")
    WorkloadFactory(project=project)
    with pytest.raises(ValidationError, match="sight keeps its name"):
        update_project(
            drawn,
            by=UserFactory(administrator=True),
            department="research",
            name="vision",
            description="",
            gpu_quota=1,
            cpu_quota=None,
            memory_quota=None,
            over_quota=True,
            members=[],
        )


def test_on_this_machine_a_project_with_workloads_is_renamed(administrator: Client) -> None:
    project = WorkloadFactory(running=True).project
    assert administrator.post(f"/projects/{project.pk}/edit/", project_form(name="sight"))[
        "Location"
    ]
    project.refresh_from_db()
    assert project.name == "sight"


def test_a_project_with_workloads_stays(administrator: Client) -> None:
    workload = WorkloadFactory(completed=True)
    address = f"/projects/{workload.project.pk}/delete/"
    asked = administrator.get(address)
    assert asked.status_code == 200
    assert workload.name in asked.content.decode()
    assert "Delete project" not in asked.content.decode()
    response = administrator.post(address)
    assert response.status_code == 422
    assert workload.name in response.content.decode()
    workload.deleted_at = workload.created_at
    workload.save()
    assert administrator.post(address)["Location"] == "/projects/"
    assert not Project.objects.exists()


def test_the_bars_show_what_is_held(administrator: Client) -> None:
    project = ProjectFactory(gpu_quota=0.5, cpu_quota=8, memory_quota=1_000_000_000)
    WorkloadFactory(running=True, project=project, gpus=0.8)
    WorkloadFactory(pending=True, project=project)
    page = administrator.get(f"/projects/{project.pk}/").content.decode()
    assert "0.8 of 0.5" in page
    assert '<strong class="nums">0.3</strong> borrowed' in page
    assert "300 MB of 1 GB" in page
    assert "accounting units" in page
    assert (
        "accounting units"
        in administrator.get(f"/projects/{project.pk}/", **DRAWER).content.decode()
    )


def test_the_list_of_projects_takes_a_fixed_number_of_queries(
    administrator: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for project in ProjectFactory.create_batch(10, cluster=ClusterFactory()):
        WorkloadFactory(running=True, project=project)
    with django_assert_max_num_queries(10):
        part = administrator.get("/projects/?q=team", **HTMX).content.decode()
    assert "<html" not in part


def test_a_bad_department_hides_nothing_else_that_is_wrong(administrator: Client) -> None:
    posted = project_form(name="", department="Bad Dep", gpu_quota="-1")
    response = administrator.post("/projects/new/", posted)
    assert set(response.context["form"].errors) == {"department", "name", "gpu_quota"}
