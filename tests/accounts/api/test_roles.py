"""REST: what roles permit, where someone has which, and how others end what someone has."""

from typing import Any

import pytest
from django.test import Client

from accounts import tokens
from accounts.models import User
from projects.models import Project
from tests.caller import Caller
from tests.factories import ProjectFactory, UserFactory

pytestmark = pytest.mark.django_db
SCOPES = "/authorization/permitted-scopes"


@pytest.fixture
def admin() -> Caller:
    return Caller(UserFactory.create(administrator=True, username="boss"))


@pytest.fixture
def ada() -> User:
    user: User = UserFactory.create(username="ada")
    user.set_password("analytical-engine")
    user.save()
    return user


@pytest.fixture
def project(ada: User) -> Project:
    return ProjectFactory.create(name="vision", members=[ada])


def test_a_member_has_a_role_in_the_project_and_nowhere_else(ada: User, project: Project) -> None:
    ProjectFactory.create(name="others")
    rules = Caller(ada)("GET", "/authorization/me/access-rules")[1]["accessRules"]
    assert rules["totalRecords"] == 1
    (rule,) = rules["accessRules"]
    assert (rule["scopeType"], rule["scopeId"]) == ("project", str(project.pk))
    assert (rule["scopeName"], rule["roleName"]) == ("vision", "L1 researcher")
    found = Caller(ada)("GET", "/authorization/me/access-rules/count?search=audio")[1]
    assert found == {"count": 0}


def test_permitted_scopes_are_those_of_the_role(ada: User, project: Project, admin: Caller) -> None:
    asked = {"resourceType": "workloads"}
    mine = Caller(ada)("POST", SCOPES, asked)[1]
    assert mine["create"] == {"projects": [str(project.pk)]}
    one = Caller(ada)("POST", SCOPES, {"resourceType": "users", "action": "read"})[1]
    assert one == {"read": {}}
    assert admin("POST", SCOPES, asked)[1]["delete"] == {"tenant": "1"}
    assert admin("POST", SCOPES, {"resourceType": "unknown"})[1] == {}


def test_roles_permit_what_the_access_module_says(admin: Caller) -> None:
    roles = {it["name"]: it for it in admin("GET", "/authorization/roles")[1]}
    its = {it["resourceType"]: it["actions"] for it in roles["L1 researcher"]["permissions"]}
    assert its["project"] == ["read"]
    assert "users" not in its
    assert admin("GET", "/authorization/roles/99")[0] == 404


def test_signing_someone_out_ends_tokens_and_sessions_but_no_key(ada: User, admin: Caller) -> None:
    key, secret = tokens.make_key(ada, "ci")
    old = tokens.access_token_for(ada)
    session = ada.get_session_auth_hash()
    assert admin("POST", f"/users/{ada.pk}/logout")[0] == 204
    assert tokens.token_owner(old) is None
    ada.refresh_from_db()
    assert ada.get_session_auth_hash() != session
    assert tokens.token_owner(tokens.access_token_for(ada)) == ada
    assert tokens.find_key(key.client_id, secret) == key


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"currentPassword": "wrong", "newPassword": "difference-engine"}, "currentPassword"),
        ({"currentPassword": "analytical-engine", "newPassword": "123"}, "newPassword"),
    ],
)
def test_a_wrong_or_weak_password_is_refused(ada: User, body: dict[str, Any], field: str) -> None:
    status, refused = Caller(ada)("POST", "/me/password", body)
    assert status == 400
    assert {it["field"] for it in refused["complianceIssues"]} == {field}
    ada.refresh_from_db()
    assert ada.check_password("analytical-engine")


def test_a_new_password_ends_the_token_that_set_it(ada: User) -> None:
    token = tokens.access_token_for(ada)
    body = {"currentPassword": "analytical-engine", "newPassword": "difference-engine"}
    assert Caller(ada)("POST", "/me/password", body)[0] == 204
    assert tokens.token_owner(token) is None
    ada.refresh_from_db()
    assert ada.check_password("difference-engine")


def test_a_key_cannot_change_the_password_of_its_owner(ada: User, client: Client) -> None:
    by_key = tokens.access_token_for(ada, key=tokens.make_key(ada, "ci")[0])
    body = {"currentPassword": "analytical-engine", "newPassword": "difference-engine"}
    headers = {"Authorization": f"Bearer {by_key}"}
    answer = client.post("/api/v1/me/password", body, "application/json", headers=headers)
    assert answer.status_code == 403
