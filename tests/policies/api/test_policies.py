"""Policies by REST."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from accounts import tokens
from policies.models import Policy
from projects.models import Project
from tests.caller import Caller, call, project, researcher
from tests.factories import UserFactory
from tests.policies.examples import EVERYTHING, Tree, default, make_policy, rule

__all__ = ["call", "project", "researcher"]

pytestmark = pytest.mark.django_db
#: Without what it imposes, which must exist.
MOST: Tree = {key: value for key, value in EVERYTHING.items() if key != "imposedAssets"}


@pytest.fixture
def admin() -> Caller:
    return Caller(UserFactory.create(administrator=True))


def meta(project: Project, scope: str = "project", **more: Any) -> dict[str, Any]:
    ids: dict[str, Any] = {
        "project": {"projectId": project.pk},
        "department": {"departmentId": project.department_id},
        "cluster": {"clusterId": str(project.cluster_id)},
        "tenant": {},
    }
    return {"name": "limits", "scope": scope, **ids[scope], **more}


def address(project: Project, kind: str = "distributed") -> str:
    return f"/policy/{kind}?scope=project&projectId={project.pk}"


@pytest.mark.parametrize("scope", ["tenant", "cluster", "department", "project"])
def test_a_policy_of_each_scope_is_read_as_written(
    scope: str, admin: Caller, project: Project
) -> None:
    body = {"meta": meta(project, scope), "policy": MOST}
    status, saved = admin("PUT", "/policy/distributed", body)
    assert status == 200, saved
    assert saved["policy"] == MOST | {"status": {"validation": {"errorMessage": None}}}
    assert saved["meta"]["scope"] == scope
    status, again = admin("PUT", "/policy/distributed", {**body, "policy": saved["policy"]})
    assert (status, again["policy"]) == (200, saved["policy"])
    status, read = admin("GET", address(project))
    assert status == 200
    assert (read["policy"] == saved["policy"]) is (scope == "project")
    assert read["effective"] == again["effective"]


def test_effective_rules_name_the_scope_that_decides(admin: Caller, project: Project) -> None:
    make_policy(None, rule("numWorkers", max=8), name="house")
    make_policy(project, rule("numWorkers", max=4, why="A small room"))
    effective = admin("GET", address(project))[1]["effective"]
    limits = effective["rules"]["worker"]["numWorkers"]
    assert limits.pop("sourceOfRule") == {
        "scope": "project",
        "name": "limits",
        "projectId": project.pk,
        "departmentId": None,
        "clusterId": str(project.cluster_id),
    }
    assert limits == {"max": 4, "why": "A small room"}


def test_a_stricter_rule_of_a_wider_scope_is_the_effective_one(
    admin: Caller, project: Project
) -> None:
    make_policy(project, rule("numWorkers", max=8))
    make_policy(None, rule("numWorkers", max=4), name="house")
    answer = admin("GET", address(project))[1]
    limits = answer["effective"]["rules"]["worker"]["numWorkers"]
    assert (limits["max"], limits["sourceOfRule"]["scope"]) == (4, "tenant")
    assert [it["value"] for it in answer["effectiveRules"]] == [4, 8]
    assert "house" in answer["policy"]["status"]["validation"]["errorMessage"]
    rows = admin("GET", "/policy?scope=project")[1]["policies"]
    assert "house" in rows[0]["status"]["validation"]["errorMessage"]


def test_a_scope_without_its_own_policy_has_the_wider_ones(call: Caller, project: Project) -> None:
    assert call("GET", address(project))[0] == 404
    make_policy(project.department, default("imagePullPolicy", "Always"))
    status, answer = call("GET", address(project))
    assert (status, answer["meta"], answer["policy"]) == (200, None, None)
    assert answer["effective"]["defaults"] == {"worker": {"imagePullPolicy": "Always"}}
    assert call("GET", address(project, "trainings"))[0] == 404


def test_a_change_merges_values_after_it_resets_fields(admin: Caller, project: Project) -> None:
    make_policy(project, rule("numWorkers", max=8, why="Room") | default("backoffLimit", 2))
    change = {
        "meta": meta(project, name="renamed"),
        "policy": {"rules": {"worker": {"numWorkers": {"min": 2}, "image": None}}},
        "reset": ["worker.backoffLimit", "$.master.compute"],
    }
    status, answer = admin("PATCH", "/policy/distributed", change)
    assert status == 200, answer
    assert answer["meta"]["name"] == "renamed"
    assert answer["effective"].keys() == {"rules"}
    assert Policy.objects.get().tree == rule("numWorkers", min=2, max=8, why="Room")


def test_an_unknown_field_to_reset_is_refused(admin: Caller, project: Project) -> None:
    body = {"meta": meta(project), "reset": ["worker.compute", "compute", "worker.colour"]}
    status, answer = admin("PATCH", "/policy/distributed", body)
    assert status == 400
    assert [it["field"] for it in answer["complianceIssues"]] == ["reset.1", "reset.2"]


def test_every_problem_has_its_path_in_the_policy(admin: Caller, project: Project) -> None:
    make_policy(None, rule("backoffLimit", max=2), name="house")
    tree = {"rules": {"worker": {"numWorkers": {"max": "many"}}, "leader": {}}, "imposedAssets": 3}
    status, answer = admin("PUT", "/policy/distributed", {"meta": meta(project), "policy": tree})
    assert (status, answer["message"]) == (400, "The policy cannot be saved.")
    assert [it["field"] for it in answer["complianceIssues"]] == [
        "policy.rules.leader",
        "policy.rules.worker.numWorkers.max",
        "policy.imposedAssets",
    ]
    body = {"meta": meta(project, name=""), "policy": rule("backoffLimit", max=3)}
    status, answer = admin("PUT", "/policy/distributed", body)
    fields = [it["field"] for it in answer["complianceIssues"]]
    assert fields == ["meta.name", "policy.rules.worker.backoffLimit.max"]
    assert "policy house of the account" in answer["complianceIssues"][1]["details"]


def test_validating_only_saves_nothing(admin: Caller, project: Project) -> None:
    body = {"meta": meta(project), "policy": rule("numWorkers", max=8)}
    path = "/policy/distributed?validateOnly=true&approveClusterDeletion=true"
    status, answer = admin("PUT", path, body)
    assert (status, answer["meta"]["name"]) == (200, "limits")
    assert not Policy.objects.exists()


def test_researchers_read_policies_but_do_not_write_them(call: Caller, project: Project) -> None:
    body = {"meta": meta(project), "policy": rule("numWorkers", max=8)}
    status, answer = call("PUT", "/policy/distributed", body)
    assert (status, "policies.create" in answer["message"]) == (403, True)
    make_policy(project, rule("numWorkers", max=8))
    assert call("GET", address(project))[0] == 200
    assert call("DELETE", address(project))[0] == 403
    stranger = Caller(UserFactory.create())
    assert stranger("GET", address(project))[0] == 404
    assert stranger("DELETE", address(project))[0] == 404
    assert stranger("GET", "/policy")[1]["policies"] == []


def test_a_deleted_policy_is_gone(admin: Caller, project: Project) -> None:
    make_policy(project, rule("numWorkers", max=8))
    assert admin("DELETE", address(project))[0] == 204
    assert admin("GET", address(project))[0] == 404
    assert admin("DELETE", address(project))[0] == 404


def test_the_scope_needs_its_id(admin: Caller) -> None:
    status, answer = admin("GET", "/policy/workspaces?scope=department")
    assert status == 400
    assert [it["field"] for it in answer["complianceIssues"]] == ["departmentId"]


def test_the_account_has_no_id(admin: Caller, project: Project) -> None:
    path = f"/policy/trainings?scope=tenant&clusterId={project.cluster_id}"
    status, refused = admin("GET", path)
    assert (status, refused["complianceIssues"][0]["field"]) == (400, "clusterId")


def test_the_list_finds_policies_by_scope_and_kind(admin: Caller, project: Project) -> None:
    make_policy(None, rule("numWorkers", max=8), name="house")
    make_policy(project, rule("numWorkers", max=4), name="room")
    query = f"workloadType=distributed&projectId={project.pk}&includeFallbackPolicies=true"
    rows = admin("GET", f"/policy?{query}")[1]["policies"]
    assert [(row["type"], row["meta"]["name"]) for row in rows] == [("distributed", "room")]
    assert admin("GET", "/policy?workloadType=training")[1]["policies"] == []
    assert [it["meta"]["name"] for it in admin("GET", "/policy?scope=tenant")[1]["policies"]] == [
        "house"
    ]


def test_values_that_look_secret_are_hidden(admin: Caller, project: Project) -> None:
    variables = {"instances": [{"name": "API_TOKEN", "value": "abc"}]}
    make_policy(project, default("environmentVariables", variables))
    answer = admin("GET", address(project))[1]
    assert "abc" not in str(answer)
    body = {"meta": meta(project), "policy": answer["policy"]}
    assert admin("PUT", "/policy/distributed", body)[0] == 200
    (rule_in_store,) = Policy.objects.get().rules
    assert rule_in_store.value == variables["instances"][0]
    other = {"meta": meta(project, "tenant"), "policy": answer["policy"]}
    status, answer = admin("PUT", "/policy/distributed", other)
    assert (status, answer["complianceIssues"][0]["field"]) == (
        400,
        "policy.defaults.worker.environmentVariables.instances",
    )


def send(admin: Caller, method: str, path: str, etag: str, body: Any = None) -> Any:
    headers = {"Authorization": f"Bearer {tokens.access_token_for(admin.user)}"}
    if etag:
        headers["If-Match"] = etag
    content = json.dumps(body) if body else ""
    return Client().generic(
        method, f"/api/v1{path}", content, content_type="application/json", headers=headers
    )


@pytest.mark.parametrize("scope", ["tenant", "project"])
def test_a_policy_that_changed_meanwhile_is_not_overwritten(
    scope: str, admin: Caller, project: Project
) -> None:
    make_policy(project if scope == "project" else None, rule("numWorkers", max=8))
    ids = {name: str(value) for name, value in meta(project, scope).items() if name != "name"}
    path = "/policy/distributed"
    place = f"{path}?{urlencode(ids)}"
    seen = send(admin, "GET", place, "")["ETag"]
    body = {"meta": meta(project, scope), "policy": rule("numWorkers", max=4)}
    first = send(admin, "PUT", path, seen, body)
    assert first.status_code == 200
    assert send(admin, "PUT", path, seen, body).status_code == 412
    assert send(admin, "PATCH", path, seen, body).status_code == 412
    assert send(admin, "DELETE", place, seen).status_code == 412
    assert send(admin, "PUT", path, first["ETag"], body).status_code == 200
    assert send(admin, "PUT", path, seen, {"meta": {}}).status_code == 400
    latest = send(admin, "GET", place, "")["ETag"]
    assert send(admin, "DELETE", place, latest).status_code == 204
