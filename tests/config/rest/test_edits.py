"""Calls that change something: tried first, and only as what they change was seen."""

import json
from typing import Any

import pytest
from django.test import Client

from accounts import tokens
from accounts.models import User
from audit.models import AuditEntry
from projects.models import Department
from tests.calls import address, calls
from tests.factories import ClusterFactory, UserFactory


@pytest.fixture
def administrator(db: None) -> User:
    return UserFactory.create(administrator=True)


#: They sign someone in, so nobody is known whose call could be tried.
WITHOUT_A_CALLER = {f"/api/v1/{it}" for it in ("token", "device-sign-ins", "device-sign-ins/key")}


def ask(user: User, method: str, path: str, body: Any = None, **headers: str) -> Any:
    return Client().generic(
        method,
        f"/api/v1{path}",
        json.dumps(body or {}),
        content_type="application/json",
        headers={"Authorization": f"Bearer {tokens.access_token_for(user)}", **headers},
    )


def department(administrator: User) -> str:
    body = {"name": "research", "clusterId": str(ClusterFactory.create().pk)}
    created = ask(administrator, "POST", "/org-unit/departments", body).json()
    return f"/org-unit/departments/{created['id']}"


def test_an_edit_of_what_changed_meanwhile_is_refused(administrator: User) -> None:
    path = department(administrator)
    seen = ask(administrator, "GET", path)["ETag"]
    first = ask(administrator, "PUT", path, {"overQuota": False}, **{"If-Match": seen})
    assert first.status_code == 200
    late = ask(administrator, "PUT", path, {"name": "science"}, **{"If-Match": seen})
    assert (late.status_code, late.json()["code"]) == (412, 412)
    assert Department.objects.get(name="research").over_quota is False
    assert ask(administrator, "GET", path)["ETag"] == first["ETag"]
    parts = ask(administrator, "PATCH", f"{path}/resources", [{}], **{"If-Match": seen})
    assert parts.status_code == 412
    assert ask(administrator, "DELETE", path, **{"If-Match": seen}).status_code == 412
    assert (
        ask(administrator, "DELETE", path, **{"If-Match": f'"x", {first["ETag"]}'}).status_code
        == 204
    )


def test_an_edit_that_changes_nothing_keeps_the_etag(administrator: User) -> None:
    path = department(administrator)
    seen = ask(administrator, "GET", path)
    assert "projects" in seen.json()
    assert ask(administrator, "PUT", path, {}, **{"If-Match": seen["ETag"]}).status_code == 200


def test_an_edit_of_a_missing_object_is_not_found_with_any_etag(administrator: User) -> None:
    path = "/org-unit/departments/999999"
    assert ask(administrator, "PUT", path, {}, **{"If-Match": '"x"'}).status_code == 404


def test_a_dry_run_judges_and_changes_nothing(administrator: User) -> None:
    path = department(administrator)
    entries = AuditEntry.objects.count()
    tried = ask(administrator, "PUT", f"{path}?dryRun=true", {"name": "science"})
    assert (tried.status_code, tried.json()["name"], tried["Dry-Run"]) == (200, "science", "true")
    assert ask(administrator, "PUT", f"{path}?dryRun=true", {"name": "No Name"}).status_code == 400
    assert ask(administrator, "DELETE", f"{path}?dryRun=true").status_code == 204
    made = ask(administrator, "POST", "/access-keys?dryRun=true", {"name": "ci"})
    assert (made.status_code, made["Dry-Run"]) == (201, "true")
    assert (
        Department.objects.filter(name="research").count(),
        administrator.access_keys.count(),
    ) == (1, 0)
    assert AuditEntry.objects.count() == entries
    assert ask(administrator, "DELETE", path).status_code == 204


def test_every_call_that_changes_something_can_be_tried(administrator: User) -> None:
    changing = [it for it in calls() if it[0] != "GET" and it[1] not in WITHOUT_A_CALLER]
    assert changing
    for method, path in changing:
        body: Any = [{}] if path.endswith("/resources") else {}
        refusal = ask(administrator, method, f"{address(path)}?dryRun=perhaps", body)
        wrong = [it["field"] for it in refusal.json()["complianceIssues"]]
        assert "dryRun" in wrong, (method, path)
        answer = ask(administrator, method, f"{address(path)}?dryRun=true", body)
        assert "dryRun" not in answer.content.decode(), (method, path)
