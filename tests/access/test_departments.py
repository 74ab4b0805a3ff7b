"""An administrator of a department manages what is in it, and learns nothing of others."""

import re
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from projects.models import Department, Project
from tests.caller import Caller
from tests.factories import (
    ComputeResourceFactory,
    ProjectFactory,
    UserFactory,
    WorkloadFactory,
    give,
)
from tests.web import signed_in

pytestmark = pytest.mark.django_db
OTHER = "zanzibar"
PAGES = (
    *("departments", "projects", "clusters", "workloads", "environments", "compute-resources"),
    *("data-sources", "templates", "webhooks", "projects/new"),
)


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create(name="vision", department__name="labs")


@pytest.fixture
def other(project: Project) -> Project:
    """A project of another department on the same cluster, with a workload and an asset."""
    department = Department.objects.create(name=f"{OTHER}-labs", cluster=project.cluster)
    other = ProjectFactory.create(
        name=f"{OTHER}-vision", cluster=project.cluster, department=department
    )
    member = UserFactory.create(username=f"{OTHER}-member")
    WorkloadFactory.create(name=f"{OTHER}-run", project=other, created_by=member, running=True)
    ComputeResourceFactory.create(name=f"{OTHER}-small", home=other)
    return other


@pytest.fixture
def chief(project: Project) -> User:
    user: User = UserFactory.create(username="grace")
    give(user, "Department administrator", project.department.scope_keys[0])
    return user


@pytest.fixture
def client(chief: User, valkey: object) -> Client:
    return signed_in(chief)


def project_form(project: Project, **changes: Any) -> dict[str, Any]:
    return {
        "cluster": str(project.cluster_id),
        "department": "labs",
        "name": "speech",
        "gpu_quota": "1",
        "rank": "medium-low",
        "over_quota": "on",
        **changes,
    }


def test_the_pages_show_the_own_department_alone(
    client: Client, project: Project, other: Project
) -> None:
    for page in PAGES:
        response = client.get(f"/{page}/", follow=True)
        assert response.status_code == 200, page
        assert OTHER not in response.content.decode(), page
    assert "labs" in client.get("/departments/").content.decode()
    assert "vision" in client.get("/projects/").content.decode()
    for address in (
        other.get_absolute_url(),
        f"/projects/{other.pk}/edit/",
        f"/departments/{other.department_id}/edit/",
    ):
        assert client.get(address).status_code == 404, address


def test_a_new_project_is_in_a_department_of_ones_own(client: Client, other: Project) -> None:
    ProjectFactory.create(name="elsewhere", department__name="default", cluster=other.cluster)
    page = client.get("/projects/new/").content.decode()
    (field,) = re.findall(r'<input[^>]* name="department"[^>]*>', page)
    assert 'value="labs"' in field
    assert "One in which you may create projects." in page


def test_rest_shows_the_own_department_alone(chief: User, project: Project, other: Project) -> None:
    call = Caller(chief)
    departments = call("GET", "/org-unit/departments")[1]["departments"]
    assert [it["name"] for it in departments] == ["labs"]
    assert call("GET", "/org-unit/departments/count")[1] == {"count": 1}
    assert call("GET", f"/org-unit/departments/{other.department_id}")[0] == 404
    assert call("DELETE", f"/org-unit/departments/{project.department_id}")[0] == 403
    assert [it["name"] for it in call("GET", "/org-unit/projects")[1]["projects"]] == ["vision"]
    assert call("GET", "/workloads")[1]["workloads"] == []
    assert call("GET", "/asset/compute")[1]["entries"] == []


def test_a_project_is_created_and_kept_in_the_own_department(
    client: Client, project: Project, other: Project
) -> None:
    assert client.post("/projects/new/", project_form(project)).status_code == 302
    speech = Project.objects.get(name="speech")
    assert speech.department == project.department
    for department in (f"{OTHER}-labs", "brand-new"):
        post = project_form(project, name="sound", department=department)
        assert client.post("/projects/new/", post).status_code == 403
        moved = project_form(project, department=department)
        assert client.post(f"/projects/{speech.pk}/edit/", moved).status_code == 403
    assert client.post(f"/projects/{speech.pk}/delete/").status_code == 302
    assert not Project.objects.filter(name__in=["speech", "sound"]).exists()


def test_the_quota_of_the_own_department_is_changed(client: Client, project: Project) -> None:
    post = {"name": "labs", "gpu_quota": "3", "over_quota": "on"}
    assert client.post(f"/departments/{project.department_id}/edit/", post).status_code == 302
    project.department.refresh_from_db()
    assert project.department.gpu_quota == 3


def test_an_asset_of_the_department_is_created_and_changed(chief: User, project: Project) -> None:
    call = Caller(chief)
    meta = {
        "name": "small",
        "scope": "department",
        "departmentId": str(project.department_id),
        "clusterId": str(project.cluster_id),
    }
    body = {"meta": meta, "spec": {"cpuCoreRequest": 0.1, "cpuMemoryRequest": "100M"}}
    status, made = call("POST", "/asset/compute", body)
    assert status == 201, made
    wider = body | {"meta": meta | {"scope": "cluster", "departmentId": None}}
    assert call("POST", "/asset/compute", wider)[0] in {400, 403}
    researcher = UserFactory.create()
    give(researcher, "L1 researcher", project.scope_keys[0])
    names = [it["meta"]["name"] for it in Caller(researcher)("GET", "/asset/compute")[1]["entries"]]
    assert names == ["small"]
