"""What one may not see is not there; what one may see and not do is refused, and says why."""

import json

import pytest
from django.test import Client

from accounts.models import User
from projects.models import Project
from tests.caller import Caller
from tests.factories import EnvironmentFactory, ProjectFactory, UserFactory, add_members
from tests.web import signed_in


@pytest.fixture
def user(db: None, valkey: object) -> User:
    return UserFactory()


@pytest.fixture
def project(user: User) -> Project:
    project: Project = ProjectFactory()
    add_members(project, user)
    return project


@pytest.fixture
def client(user: User) -> Client:
    return signed_in(user)


@pytest.mark.parametrize(
    ("address", "permission"),
    [
        ("/users/", "users.read"),
        ("/users/new/", "users.create"),
        ("/departments/", "departments.read"),
        ("/projects/new/", "projects.create"),
        ("/projects/{project.pk}/edit/", "projects.update"),
        ("/clusters/new/", "clusters.create"),
        ("/clusters/{project.cluster_id}/edit/", "clusters.update"),
        ("/clusters/{project.cluster_id}/node-pools/new/", "nodepools.create"),
    ],
)
def test_a_page_names_the_missing_permission(
    client: Client, project: Project, address: str, permission: str
) -> None:
    response = client.get(address.format(project=project))
    assert response.status_code == 403
    assert f"the permission {permission} " in response.content.decode()


def test_rest_names_the_missing_permission(user: User, project: Project) -> None:
    status, answer = Caller(user)("DELETE", f"/clusters/{project.cluster_id}")
    assert status == 403
    assert "the permission clusters.delete " in json.dumps(answer)


def test_a_shared_asset_is_seen_and_not_changed(client: Client, project: Project) -> None:
    shared = EnvironmentFactory(scope="cluster", cluster=project.cluster, project=None)
    assert client.get(shared.get_absolute_url()).status_code == 200
    response = client.get(f"/environments/{shared.pk}/edit/")
    assert response.status_code == 403
    assert "the permission environments.update " in response.content.decode()


def test_objects_that_a_user_may_not_see_are_not_found(
    client: Client, user: User, project: Project
) -> None:
    other = EnvironmentFactory()
    for address in (
        other.project.get_absolute_url(),
        other.cluster.get_absolute_url(),
        other.get_absolute_url(),
        f"/environments/{other.pk}/edit/",
    ):
        assert client.get(address).status_code == 404, address
    assert Caller(user)("DELETE", f"/clusters/{other.cluster_id}")[0] == 404
