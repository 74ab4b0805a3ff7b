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
def boss(db: None) -> User:
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


def department(boss: User) -> str:
    body = {"name": "research", "clusterId": str(ClusterFactory.create().pk)}
    return f"/org-unit/departments/{ask(boss, 'POST', '/org-unit/departments', body).json()['id']}"


def test_an_edit_of_what_changed_meanwhile_is_refused(boss: User) -> None:
    path = department(boss)
    seen = ask(boss, "GET", path)["ETag"]
    first = ask(boss, "PUT", path, {"overQuota": False}, **{"If-Match": seen})
    assert first.status_code == 200
    late = ask(boss, "PUT", path, {"name": "science"}, **{"If-Match": seen})
    assert (late.status_code, late.json()["code"]) == (412, 412)
    assert Department.objects.get(name="research").over_quota is False
    assert ask(boss, "GET", path)["ETag"] == first["ETag"]
    parts = ask(boss, "PATCH", f"{path}/resources", [{}], **{"If-Match": seen})
    assert parts.status_code == 412
    assert ask(boss, "DELETE", path, **{"If-Match": seen}).status_code == 412
    assert ask(boss, "DELETE", path, **{"If-Match": f'"x", {first["ETag"]}'}).status_code == 204


def test_an_edit_that_changes_nothing_keeps_the_etag(boss: User) -> None:
    path = department(boss)
    seen = ask(boss, "GET", path)
    assert "projects" in seen.json()
    assert ask(boss, "PUT", path, {}, **{"If-Match": seen["ETag"]}).status_code == 200


def test_an_edit_of_what_is_not_there_is_not_found_whatever_it_must_match(boss: User) -> None:
    path = "/org-unit/departments/999999"
    assert ask(boss, "PUT", path, {}, **{"If-Match": '"x"'}).status_code == 404


def test_a_dry_run_judges_and_changes_nothing(boss: User) -> None:
    path = department(boss)
    entries = AuditEntry.objects.count()
    tried = ask(boss, "PUT", f"{path}?dryRun=true", {"name": "science"})
    assert (tried.status_code, tried.json()["name"], tried["Dry-Run"]) == (200, "science", "true")
    assert ask(boss, "PUT", f"{path}?dryRun=true", {"name": "No Name"}).status_code == 400
    assert ask(boss, "DELETE", f"{path}?dryRun=true").status_code == 204
    made = ask(boss, "POST", "/access-keys?dryRun=true", {"name": "ci"})
    assert (made.status_code, made["Dry-Run"]) == (201, "true")
    assert (Department.objects.filter(name="research").count(), boss.access_keys.count()) == (1, 0)
    assert AuditEntry.objects.count() == entries
    assert ask(boss, "DELETE", path).status_code == 204


@pytest.mark.parametrize(("method", "path"), [it for it in calls() if it[0] != "GET"], ids=" ".join)
def test_every_call_that_changes_something_can_be_tried(boss: User, method: str, path: str) -> None:
    if path in WITHOUT_A_CALLER:
        return
    body: Any = [{}] if path.endswith("/resources") else {}
    status = ask(boss, method, f"{address(path)}?dryRun=perhaps", body)
    assert "dryRun" in [it["field"] for it in status.json()["complianceIssues"]]
    answer = ask(boss, method, f"{address(path)}?dryRun=true", body)
    assert "dryRun" not in answer.content.decode()
