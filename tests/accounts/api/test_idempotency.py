"""``Idempotency-Key``: what was sent twice is done once."""

import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts import tokens
from accounts.models import KeptAnswer, User
from config.rest.examples import MANIFEST
from core.database.fields import is_under_first_key
from projects.models import Project
from tests.caller import Body, Caller
from tests.factories import UserFactory
from workloads.models import Workload


def post(user: User, path: str, body: Any, key: str) -> Any:
    token = tokens.access_token_for(user, key=user.acting_key)
    return Client().post(
        f"/api/v1{path}",
        json.dumps(body),
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}", "Idempotency-Key": key},
    )


def test_a_submission_that_is_sent_again_makes_one_workload(
    researcher: User, seed_body: Body
) -> None:
    body = seed_body(useGivenNameAsPrefix=True)
    first = post(researcher, "/workloads/distributed", body, "night 1")
    again = post(researcher, "/workloads/distributed", body, "night 1")
    assert (first.status_code, again.status_code) == (202, 202)
    assert again.json() == first.json()
    assert (again["Idempotent-Replayed"], "Idempotent-Replayed" in first) == ("true", False)
    assert Workload.objects.count() == 1
    post(researcher, "/workloads/distributed", body, "night 2")
    assert Workload.objects.count() == 2


def test_another_request_under_the_same_key_is_refused(researcher: User, seed_body: Body) -> None:
    post(researcher, "/workloads/distributed", seed_body(), "k")
    other = post(researcher, "/workloads/distributed", seed_body(name="other"), "k")
    assert (other.status_code, other.json()["code"]) == (422, 422)
    assert post(researcher, "/workloads/trainings", seed_body(), "k").status_code == 422
    assert Workload.objects.count() == 1


def test_an_access_key_is_not_told_what_its_owner_was_answered(researcher: User) -> None:
    body = {"name": "ci"}
    answer = post(researcher, "/access-keys", body, "1")
    assert answer.status_code == 201
    researcher.acting_key = tokens.make_key(researcher, "reads", scopes=["workloads.read"])[0]
    again = post(researcher, "/access-keys", body, "1")
    assert again.status_code == 422
    assert answer.json()["clientSecret"] not in again.content.decode()


def test_a_manifest_that_is_sent_again_makes_one_workload(project: Project) -> None:
    metadata = {"projectId": str(project.pk), "clusterId": str(project.cluster_id)}
    body = {"metadata": metadata, "manifest": MANIFEST}
    user = project.members.get()
    answers = [post(user, "/workloads/manifests", body, "k") for _ in range(2)]
    assert [it.status_code for it in answers] == [202, 202]
    assert Workload.objects.count() == 1


def test_a_request_that_was_refused_may_be_mended_under_its_key(
    researcher: User, seed_body: Body
) -> None:
    assert post(researcher, "/workloads/distributed", seed_body(name=""), "k").status_code == 400
    assert not KeptAnswer.objects.exists()
    assert post(researcher, "/workloads/distributed", seed_body(), "k").status_code == 202


def test_a_dry_run_uses_up_no_key(researcher: User, seed_body: Body) -> None:
    post(researcher, "/workloads/distributed?dryRun=true", seed_body(), "k")
    assert post(researcher, "/workloads/distributed", seed_body(), "k").status_code == 202


def test_keys_are_each_persons_own_and_last_a_day(researcher: User, db: None) -> None:
    other = UserFactory.create()
    assert post(researcher, "/access-keys", {"name": "ci"}, "k").status_code == 201
    assert "Idempotent-Replayed" not in post(other, "/access-keys", {"name": "ci"}, "k")
    with time_machine.travel(timezone.now() + timedelta(hours=25)):
        assert "Idempotent-Replayed" not in post(researcher, "/access-keys", {"name": "ci"}, "k")
    assert researcher.access_keys.count() == 2


def test_an_answer_is_kept_encrypted(researcher: User) -> None:
    secret = post(researcher, "/access-keys", {"name": "ci"}, "k").json()["clientSecret"]
    again = post(researcher, "/access-keys", {"name": "ci"}, "k")
    assert again.json()["clientSecret"] == secret
    (stored,) = KeptAnswer.objects.extra(select={"raw": "body"}).values_list("raw")
    assert is_under_first_key(stored[0])


def test_an_answer_that_cannot_be_decrypted_is_reported_and_nothing_runs_twice(
    researcher: User, seed_body: Body, settings: Settings
) -> None:
    post(researcher, "/workloads/distributed", seed_body(), "k")
    settings.SECRET_KEY = "another"
    again = post(researcher, "/workloads/distributed", seed_body(), "k")
    assert (again.status_code, again.json()["code"]) == (409, 409)
    assert Workload.objects.count() == 1


@pytest.mark.parametrize("key", ["", "k" * 256, "Schlüssel"])
def test_a_key_that_is_none_is_refused(researcher: User, key: str) -> None:
    answer = post(researcher, "/access-keys", {"name": "ci"}, key)
    assert answer.status_code == 400
    assert answer.json()["complianceIssues"][0]["field"] == "Idempotency-Key"


def test_without_a_token_nothing_is_replayed(researcher: User, call: Caller) -> None:
    post(researcher, "/access-keys", {"name": "ci"}, "k")
    answer = Client().post(
        "/api/v1/access-keys",
        '{"name": "ci"}',
        content_type="application/json",
        headers={"Idempotency-Key": "k"},
    )
    assert answer.status_code == 401
