"""What someone may not do is recorded, with the permission that was missing."""

import pytest

from accounts.models import User
from assets.template.kind import TEMPLATE
from audit.models import AuditEntry
from projects.models import Project
from tests.assets.each_kind import create_assets
from tests.caller import Caller
from tests.factories import ProjectFactory, UserFactory, give
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


def test_a_refusal_at_an_asset_is_recorded_with_the_permission_of_its_kind(
    project: Project,
) -> None:
    """An L2 researcher sees assets and changes none."""
    reader = UserFactory.create(username="eve")
    give(reader, "L2 researcher", project.scope_keys[0])
    web = signed_in(reader)
    expected = []
    for kind, asset in create_assets(project).items():
        path = f"/{kind.path}/{asset.pk}"
        for request, action in ((web.get, "edit"), (web.post, "delete")):
            assert request(f"{path}/{action}/").status_code == 403
        expected += [
            ("eve", f"GET {path}/edit/", f"{kind.path}.update"),
            ("eve", f"POST {path}/delete/", f"{kind.path}.delete"),
        ]
    assert refusals() == expected


def test_a_refused_call_about_an_asset_is_recorded_with_the_permission_of_its_kind(
    project: Project,
) -> None:
    reader = UserFactory.create(username="eve")
    give(reader, "L2 researcher", project.scope_keys[0])
    call = Caller(reader)
    assets = create_assets(project)
    meta = {"name": "new", "scope": "project", "projectId": str(project.pk)}
    spec = {"cpuCoreRequest": 1}
    assert call("POST", "/asset/compute", {"meta": meta, "spec": spec})[0] == 403
    template = f"/workload-templates/distributed/{assets[TEMPLATE].pk}"
    assert call("DELETE", template)[0] == 403
    assert refusals() == [
        ("eve", "POST /api/v1/asset/compute", "compute-resources.create"),
        ("eve", f"DELETE /api/v1{template}", "templates.delete"),
    ]


def test_what_is_not_there_is_no_refusal(user: User) -> None:
    other = ProjectFactory.create()
    assert signed_in(user).get(other.get_absolute_url()).status_code == 404
    assert Caller(user)("GET", f"/org-unit/projects/{other.pk}")[0] == 404
    assert not refusals()
