"""Access keys by REST: what they tell, when they end, what they are for."""

import json
from datetime import UTC, timedelta
from datetime import timezone as offset
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts import tokens
from accounts.models import User
from projects.models import Project
from tests.caller import Body, Caller
from tests.factories import UserFactory

FAR = offset(timedelta(hours=21, minutes=48))  # farther from UTC than PostgreSQL takes


def by_key(user: User, method: str, path: str, body: Any = None, **key: Any) -> tuple[int, Any]:
    """A call of a program that acts by a key of theirs."""
    made, _ = tokens.make_key(user, "ci", **key)
    token = tokens.access_token_for(user, key=made)
    answer = Client().generic(
        method,
        f"/api/v1{path.format(key=made.pk)}",
        json.dumps(body or {}),
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )
    return answer.status_code, answer.json() if answer.content else None


def test_a_key_shows_when_it_was_created_last_used_and_ends(call: Caller) -> None:
    later = timezone.now() + timedelta(days=7)
    ends, far = (later.astimezone(zone).isoformat() for zone in (UTC, FAR))
    status, made = call("POST", "/access-keys", {"name": "ci", "expiresAt": far})
    assert status == 201
    _, answer = call("GET", "/access-keys")
    (key,) = answer["accessKeys"]
    assert key["createdAt"]
    assert (key["lastLogin"], key["scopes"]) == (None, [])
    assert key["expiresAt"][:19] == ends[:19]
    assert tokens.find_key(made["clientId"], made["clientSecret"])
    status, key = call("GET", f"/access-keys/{made['id']}")
    assert key["lastLogin"]
    assert "clientSecret" not in key


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"expiresAt": "2001-01-01T00:00:00Z"}, "expiresAt"),
        ({"expiresAt": "2999-01-01T00:00:00"}, "expiresAt"),
        ({"scopes": ["workloads.fly"]}, "scopes"),
        ({"name": ""}, "name"),
    ],
)
def test_a_key_that_cannot_be_is_refused_by_name(
    call: Caller, given: dict[str, Any], field: str
) -> None:
    status, answer = call("POST", "/access-keys", {"name": "ci", **given})
    assert status == 400
    assert [issue["field"] for issue in answer["complianceIssues"]] == [field]


def test_a_key_that_has_ended_opens_nothing_and_neither_do_its_tokens(researcher: User) -> None:
    ends = timezone.now() + timedelta(hours=1)
    key, secret = tokens.make_key(researcher, "ci", expires_at=ends)
    granted = tokens.create_tokens(researcher, key=key)
    assert granted.expires_in <= 3600
    token = tokens.access_token_for(researcher, key=key)
    with time_machine.travel(timezone.now() + timedelta(hours=2)):
        assert tokens.find_key(key.client_id, secret) is None
        assert tokens.token_owner(token) is None
        assert tokens.renew_tokens(granted.refresh) is None


def test_a_key_does_only_what_its_scopes_name(
    researcher: User, project: Project, seed_body: Body
) -> None:
    reads = {"scopes": ["workloads.read", "projects.read", "clusters.read"]}
    assert by_key(researcher, "GET", "/workloads", **reads)[0] == 200
    assert len(by_key(researcher, "GET", "/org-unit/projects", **reads)[1]["projects"]) == 1
    status, answer = by_key(researcher, "POST", "/workloads/distributed", seed_body(), **reads)
    assert status == 403, "what it sees and may not do is told as that"
    assert "does not have the permission workloads.create" in answer["message"]
    nothing = {"scopes": ["environments.read"]}
    assert by_key(researcher, "GET", "/org-unit/projects", **nothing)[1]["projects"] == []


def test_a_permission_that_a_key_leaves_out_is_named(db: None) -> None:
    admin = UserFactory.create(administrator=True)
    body = {"name": "research", "clusterId": "00000000-0000-4000-8000-000000000000"}
    status, answer = by_key(
        admin, "POST", "/org-unit/departments", body, scopes=["departments.read"]
    )
    assert status == 403
    assert "This access key does not have the permission departments.create" in answer["message"]


def test_a_key_makes_no_keys_and_deletes_none_but_itself(researcher: User) -> None:
    assert by_key(researcher, "POST", "/access-keys", {"name": "child"})[0] == 403
    assert by_key(researcher, "POST", "/access-keys/{key}/secret")[0] == 403
    other, _ = tokens.make_key(researcher, "other")
    assert by_key(researcher, "DELETE", f"/access-keys/{other.pk}")[0] == 403
    assert by_key(researcher, "DELETE", "/access-keys/{key}")[0] == 204


def test_a_new_secret_ends_the_old_one_and_its_tokens(call: Caller, researcher: User) -> None:
    _, made = call("POST", "/access-keys", {"name": "ci"})
    key = tokens.find_key(made["clientId"], made["clientSecret"])
    token = tokens.access_token_for(researcher, key=key)
    assert tokens.token_owner(token)
    status, renewed = call("POST", f"/access-keys/{made['id']}/secret")
    assert status == 200
    assert tokens.find_key(made["clientId"], made["clientSecret"]) is None
    assert tokens.token_owner(token) is None
    assert tokens.find_key(made["clientId"], renewed["clientSecret"])


def test_me_says_who_calls_by_which_key_and_what_they_may(
    researcher: User, project: Project, call: Caller
) -> None:
    _, me = call("GET", "/me")
    assert (me["username"], me["accessKey"]) == (researcher.username, None)
    assert me["projects"] == [
        {"id": str(project.pk), "name": project.name, "clusterId": str(project.cluster_id)}
    ]
    assert "workloads.create" in me["permissions"]
    _, me = by_key(researcher, "GET", "/me", scopes=["workloads.read"])
    assert (me["accessKey"]["name"], me["permissions"]) == ("ci", ["workloads.read"])
