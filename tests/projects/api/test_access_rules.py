"""REST: who has which role where is told and changed by those who may give it."""

from typing import Any

import pytest

from accounts import access
from accounts.models import AccessRole, User
from projects.models import Project
from tests.caller import Caller
from tests.factories import ProjectFactory, UserFactory

pytestmark = pytest.mark.django_db
PATH = "/authorization/access-rules"


@pytest.fixture
def admin_call() -> Caller:
    return Caller(UserFactory.create(administrator=True, username="boss"))


@pytest.fixture
def ada() -> User:
    return UserFactory.create(username="ada")


@pytest.fixture
def vision() -> Project:
    return ProjectFactory.create(name="vision", members=[])


def role_id(name: str) -> int:
    return AccessRole.objects.get(name=name).pk


def rule(project: Project, **also: Any) -> dict[str, Any]:
    place = {"scopeType": "project", "scopeId": str(project.pk)}
    return {
        "subjectId": "ada",
        "subjectType": "user",
        "roleId": role_id("L1 researcher"),
        **place,
    } | also


def test_a_member_is_made_and_taken_away(admin_call: Caller, ada: User, vision: Project) -> None:
    status, made = admin_call("POST", PATH, rule(vision))
    assert (status, made["createdBy"], list(vision.members.all())) == (201, "boss", [ada])
    assert admin_call("POST", PATH, rule(vision))[0] == 409
    assert admin_call("DELETE", f"{PATH}/{made['id']}")[0] == 204
    assert not vision.members.exists()
    assert admin_call("GET", f"{PATH}/{made['id']}")[0] == 404


def test_an_administrator_is_made_and_the_last_one_stays(admin_call: Caller, ada: User) -> None:
    everywhere = {"roleId": role_id("System administrator"), "scopeType": "tenant", "scopeId": "1"}
    status, made = admin_call(
        "POST", PATH, {"subjectId": "ada", "subjectType": "user"} | everywhere
    )
    assert (status, made["roleName"], made["scopeName"]) == (201, "System administrator", "Account")
    assert access.may(ada, "users.update")
    assert admin_call("DELETE", f"{PATH}/{made['id']}")[0] == 204
    (own,) = admin_call("GET", f"{PATH}?subjectIdFilter=boss")[1]["accessRules"]
    status, refused = admin_call("DELETE", f"{PATH}/{own['id']}")
    assert (status, refused["details"]) == (409, "At least one administrator must stay active.")


def test_all_that_is_wrong_with_a_rule_is_told(admin_call: Caller, vision: Project) -> None:
    wrong = rule(vision, subjectId="nobody", subjectType="app", roleId=999)
    status, refused = admin_call("POST", PATH, wrong)
    fields = [issue["field"] for issue in refused["complianceIssues"]]
    assert (status, fields) == (400, ["subjectType", "roleId"])
    UserFactory.create(username="ada")
    for also in (
        {"subjectType": "group"},
        {"subjectId": "nobody"},
        {"scopeId": "99999"},
        {"scopeId": "x"},
    ):
        assert admin_call("POST", PATH, rule(vision, **also))[0] == 400


def test_a_dry_run_gives_no_role(admin_call: Caller, ada: User, vision: Project) -> None:
    assert admin_call("POST", f"{PATH}?dryRun=true", rule(vision))[0] == 201
    assert not vision.members.exists()
