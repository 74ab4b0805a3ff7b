"""What someone may not do is recorded, with the permission that was missing."""

import pytest

from accounts.models import User
from audit.models import AuditEntry
from projects.models import Project
from tests.caller import Caller
from tests.factories import ProjectFactory, UserFactory
from tests.web import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> User:
    return UserFactory.create(username="ada")


@pytest.fixture
def project(user: User) -> Project:
    return ProjectFactory.create(members=[user])


def refusals() -> list[tuple[str, str, str]]:
    rows = AuditEntry.objects.filter(verb="attempt", target_kind="request").order_by("pk")
    return [(row.by_name, row.target_name, row.after["missing permission"]) for row in rows]


def test_a_refused_page_is_recorded_once_an_hour(user: User, project: Project) -> None:
    client = signed_in(user)
    for _ in range(3):
        assert client.get("/users/?q=secret").status_code == 403
    assert client.post(f"/projects/{project.pk}/edit/").status_code == 403
    assert refusals() == [
        ("ada", "GET /users/", "users.read"),
        ("ada", f"POST /projects/{project.pk}/edit/", "projects.update"),
    ]


def test_a_refused_call_is_recorded(user: User, project: Project) -> None:
    call = Caller(user)
    assert call("DELETE", f"/clusters/{project.cluster_id}")[0] == 403
    assert call("GET", "/users")[0] == 403
    assert refusals() == [
        ("ada", f"DELETE /api/v1/clusters/{project.cluster_id}", "clusters.delete"),
        ("ada", "GET /api/v1/users", "users.read"),
    ]


def test_what_is_not_there_is_no_refusal(user: User) -> None:
    other = ProjectFactory.create()
    assert signed_in(user).get(other.get_absolute_url()).status_code == 404
    assert Caller(user)("GET", f"/org-unit/projects/{other.pk}")[0] == 404
    assert not refusals()
