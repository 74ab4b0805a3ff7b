"""Departments: administrators alone keep them, and are told where projects have more than them."""

from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from clusters.models import Cluster
from projects.models import Department, Project
from projects.quotas import Quota, quota_of_department
from tests.factories import (
    ClusterFactory,
    DepartmentFactory,
    EnvironmentFactory,
    ProjectFactory,
    UserFactory,
    WorkloadFactory,
)
from tests.projects.posts import project_form as good_project
from tests.web import DRAWER, HTMX, signed_in

pytestmark = pytest.mark.django_db
WARNING = "The quotas of research&#x27;s projects sum to 4 GPUs where the department has 3."


def good(cluster: Cluster | None = None, **changes: Any) -> dict[str, Any]:
    return {
        "cluster": str((cluster or ClusterFactory()).pk),
        "name": "research",
        "gpu_quota": "8",
        "cpu_quota": "",
        "memory_quota": "1.5",
        **changes,
    }


@pytest.fixture
def administrator() -> Client:
    return signed_in(UserFactory(administrator=True))


@pytest.fixture
def overbooked() -> Project:
    """Its department has 3 GPUs, it has 4."""
    department = DepartmentFactory(name="research", gpu_quota=3)
    return ProjectFactory(name="vision", department=department, cluster=department.cluster)


def test_the_pages_of_departments_are_for_administrators(client: Client) -> None:
    pk = DepartmentFactory().pk
    researcher = signed_in(UserFactory())
    for page in ("", "new/", f"{pk}/edit/", f"{pk}/delete/"):
        assert client.get(f"/departments/{page}")["Location"].startswith("/accounts/login/")
        assert researcher.get(f"/departments/{page}").status_code == 403
        if page:
            assert researcher.post(f"/departments/{page}", good()).status_code == 403
    assert "/departments/" not in researcher.get("/projects/").content.decode()
    assert Department.objects.count() == 1


def test_a_department_is_created_changed_and_deleted_by_form(administrator: Client) -> None:
    response = administrator.post("/departments/new/", good())
    assert response["Location"] == "/departments/"
    made = Department.objects.get()
    assert (made.name, made.gpu_quota, made.cpu_quota) == ("research", 8, None)
    assert (made.memory_quota, made.over_quota) == (1_500_000_000, False)
    address = f"/departments/{made.pk}/edit/"
    page = administrator.get(address, **DRAWER).content.decode()
    assert 'value="1.5"' in page
    changed = good(name="vision", gpu_quota="", cpu_quota="0.5", over_quota="on")
    assert administrator.post(address, changed, **DRAWER).status_code == 204
    was = made.cluster
    made.refresh_from_db()
    assert (made.name, made.gpu_quota, made.cpu_quota) == ("vision", None, 0.5)
    assert (made.over_quota, made.cluster) == (True, was)
    assert administrator.post(f"/departments/{made.pk}/delete/")["Location"] == "/departments/"
    assert not Department.objects.exists()


def test_a_department_without_projects_has_no_bound_of_theirs() -> None:
    assert quota_of_department(DepartmentFactory(), []) == Quota(0, None, None)
    bounded = ProjectFactory(gpu_quota=1, cpu_quota=2, memory_quota=3)
    assert quota_of_department(bounded.department, [bounded]) == Quota(1, 2, 3)
    unbounded = ProjectFactory(gpu_quota=1, cpu_quota=None, memory_quota=3)
    assert quota_of_department(bounded.department, [bounded, unbounded]) == Quota(2, None, 6)


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"name": ""}, "name", "is required"),
        ({"name": "The Lab"}, "name", "lower-case"),
        ({"gpu_quota": "-1"}, "gpu_quota", "greater than or equal to 0"),
        ({"gpu_quota": "inf"}, "gpu_quota", "number"),
        ({"cpu_quota": "-1"}, "cpu_quota", "greater than or equal to 0"),
        ({"memory_quota": "1e300"}, "memory_quota", "number"),
    ],
)
def test_a_bad_value_names_its_field(
    administrator: Client, changes: dict[str, Any], field: str, words: str
) -> None:
    response = administrator.post("/departments/new/", good() | changes)
    assert response.status_code == 422
    assert words in response.context["form"].errors[field][0]
    assert not Department.objects.exists()


def test_a_name_is_taken_once_a_cluster(administrator: Client) -> None:
    taken = DepartmentFactory(name="research")
    response = administrator.post("/departments/new/", good(taken.cluster))
    assert response.status_code == 422
    assert "already exists" in response.content.decode()
    assert administrator.post("/departments/new/", good()).status_code == 302


def test_a_department_with_projects_is_not_deleted(
    administrator: Client, overbooked: Project
) -> None:
    EnvironmentFactory(home=overbooked, in_department=True)
    address = f"/departments/{overbooked.department_id}/delete/"
    assert "Delete them or move" in administrator.get(address).content.decode()
    response = administrator.post(address)
    assert response.status_code == 422
    assert "research has projects: vision. Delete them or move" in response.content.decode()
    overbooked.delete()
    assert administrator.post(address).status_code == 302


def test_an_overbooked_department_is_reported_on_its_projects_pages(
    administrator: Client, overbooked: Project
) -> None:
    project = f"/projects/{overbooked.pk}/"
    department = overbooked.department_id
    for address in (project, f"{project}edit/", f"/departments/{department}/edit/"):
        assert WARNING in administrator.get(address).content.decode()
    assert "Oversubscribed" in administrator.get("/departments/").content.decode()


def test_a_save_that_overbooks_a_department_says_so(
    administrator: Client, overbooked: Project
) -> None:
    department = overbooked.department
    edit = f"/departments/{department.pk}/edit/"
    assert said(administrator.post(edit, good(gpu_quota="4"))) == "research was saved."
    words = said(administrator.post(edit, good(gpu_quota="3.5")))
    assert words.startswith("The quotas of research's projects sum to 4 GPUs where")
    assert words.endswith("Together they never hold more than the department has.")
    words = said(administrator.post(edit, good(gpu_quota="3.5", over_quota="on")))
    assert words.endswith("They get the rest only while others leave it idle.")
    body = good_project(cluster=department.cluster, name="audio")
    made = administrator.post("/projects/new/", body, follow=True)
    assert "sum to 6 GPUs where the department has 3.5" in made.content.decode()
    edit = f"/projects/{overbooked.pk}/edit/"
    saved = administrator.post(edit, body | {"name": "v"}, follow=True).content.decode()
    assert saved.count("sum to 4 GPUs") == 1


def said(response: Any) -> str:
    """The last thing: nobody has read the ones before."""
    return str(list(get_messages(response.wsgi_request))[-1])


def test_the_list_of_departments_takes_a_fixed_number_of_queries(
    administrator: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    cluster = ClusterFactory()
    for project in ProjectFactory.create_batch(10, cluster=cluster):
        WorkloadFactory(running=True, project=project, gpus=0.8)
    with django_assert_max_num_queries(10):
        part = administrator.get("/departments/?q=depart", **HTMX).content.decode()
    assert "<html" not in part
    assert part.count("<span>0.8 of 4</span>") == 10
    assert "Sum of its projects" in part
