"""Tokens: who gets one, and what ends it."""

import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from asgiref.sync import async_to_sync
from django.db import connection
from django.test import Client, RequestFactory
from django.utils import timezone

from accounts import tokens
from accounts.api.tokens import AsyncBearer
from accounts.models import User
from tests.caller import Caller
from tests.factories import UserFactory

SECRET = "a good long password"


def ask(**body: Any) -> tuple[int, Any]:
    response = Client().post("/api/v1/token", body, content_type="application/json")
    return response.status_code, json.loads(response.content)


def read(token: str) -> int:
    answer = Client().get("/api/v1/clusters", headers={"Authorization": f"Bearer {token}"})
    return answer.status_code


@pytest.fixture
def user(db: None, valkey: object) -> User:
    user = UserFactory.create(username="mara")
    user.set_password(SECRET)
    user.save()
    return user


def test_a_password_gives_a_token_that_works(user: User) -> None:
    status, answer = ask(grantType="password", username="mara", password=SECRET)
    assert status == 200
    assert answer["expiresIn"] == 12 * 3600
    assert read(answer["accessToken"]) == 200


@pytest.mark.parametrize(
    "body",
    [
        {"grantType": "password", "username": "mara", "password": "wrong"},
        {"grantType": "password", "username": "nobody", "password": SECRET},
        {"grantType": "app_token", "AppId": "nobody", "AppSecret": "wrong"},
    ],
)
def test_wrong_credentials_give_no_token(user: User, body: dict[str, str]) -> None:
    status, answer = ask(**body)
    assert (status, answer["code"]) == (401, 401)
    assert SECRET not in json.dumps(answer)


def test_an_unknown_grant_is_named(db: None) -> None:
    status, answer = ask(grantType="magic")
    assert status == 400
    assert answer["complianceIssues"][0]["field"] == "grantType"


def test_guessing_is_slowed_down(user: User) -> None:
    answers = [ask(grantType="password", username="mara", password="no")[0] for _ in range(12)]
    assert answers[0] == 401
    assert answers[-1] == 429


def test_an_access_key_gives_a_token_under_both_spellings(user: User) -> None:
    _, key = Caller(user)("POST", "/access-keys", {"name": "ci"})
    new = ask(grantType="app_token", clientID=key["clientId"], clientSecret=key["clientSecret"])
    old = ask(grantType="app_token", AppId=key["clientId"], AppSecret=key["clientSecret"])
    assert (new[0], old[0]) == (200, 200)


def test_a_deleted_key_ends_its_tokens(user: User) -> None:
    _, key = Caller(user)("POST", "/access-keys", {"name": "ci"})
    secret = {"clientID": key["clientId"], "clientSecret": key["clientSecret"]}
    token = ask(grantType="app_token", **secret)[1]["accessToken"]
    assert read(token) == 200
    Caller(user)("DELETE", f"/access-keys/{key['id']}")
    assert read(token) == 401


def test_a_secret_is_never_shown_again(user: User) -> None:
    _, key = Caller(user)("POST", "/access-keys", {"name": "ci"})
    _, keys = Caller(user)("GET", "/access-keys")
    assert key["clientSecret"] not in json.dumps(keys)


def test_a_key_is_deleted_by_its_owner_only(user: User, stranger: Caller) -> None:
    _, key = Caller(user)("POST", "/access-keys", {"name": "ci"})
    assert stranger("DELETE", f"/access-keys/{key['id']}")[0] == 404
    assert Caller(user)("DELETE", f"/access-keys/{key['id']}")[0] == 204


def test_a_new_password_or_a_closed_account_ends_a_token(user: User) -> None:
    token = tokens.access_token_for(user)
    assert read(token) == 200
    user.set_password("another long password")
    user.save()
    assert read(token) == 401
    token = tokens.access_token_for(user)
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert read(token) == 401


def test_a_refresh_token_gives_the_next_token_and_opens_nothing_itself(user: User) -> None:
    _, first = ask(grantType="password", username="mara", password=SECRET)
    assert read(first["refreshToken"]) == 401
    status, second = ask(grantType="refresh_token", refreshToken=first["refreshToken"])
    assert (status, read(second["accessToken"])) == (200, 200)
    assert ask(grantType="refresh_token", refreshToken=first["accessToken"])[0] == 401


def test_refreshing_ends_thirty_days_after_the_sign_in_and_with_the_password(user: User) -> None:
    refresh = tokens.create_tokens(user).refresh
    with time_machine.travel(timezone.now() + timedelta(days=29, hours=23)):
        status, last = ask(grantType="refresh_token", refreshToken=refresh)
        assert (status, last["expiresIn"] <= 3600) == (200, True)
    with time_machine.travel(timezone.now() + timedelta(days=30, minutes=1)):
        status, answer = ask(grantType="refresh_token", refreshToken=last["refreshToken"])
        assert (status, answer["details"]) == (401, "The refresh token has ended. Sign in again.")
    user.set_password("another long password")
    user.save()
    assert ask(grantType="refresh_token", refreshToken=refresh)[0] == 401


@pytest.mark.parametrize("token", ["", "nonsense", "a.b.c"])
def test_a_forged_token_is_refused_with_what_to_do(db: None, token: str) -> None:
    answer = Client().get("/api/v1/clusters", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 401
    assert "POST /api/v1/token" in answer.json()["details"]


def test_the_description_is_open(db: None) -> None:
    paths = Client().get("/api/v1/openapi.json").json()["paths"]
    assert "/api/v1/workloads/distributed" in paths


@pytest.mark.parametrize(
    "path",
    ["/api/v1/nothing", "/api/v1/workloads/not-an-id", "/api/v2/clusters", "/v1/nothing"],
)
def test_an_address_that_is_not_there_answers_in_json(db: None, path: str) -> None:
    answer = Client().get(path)
    assert answer.status_code == 404
    assert answer.json()["message"] == "Path not found."
    assert Client(enforce_csrf_checks=True).post(path).status_code == 404


def key_of(user: User) -> dict[str, str]:
    _, key = Caller(user)("POST", "/access-keys", {"name": "ci"})
    return {"clientID": key["clientId"], "clientSecret": key["clientSecret"]}


def sign_in(address: str, **body: str) -> int:
    """From an address of its own; 429 says when to come back."""
    answer = Client(REMOTE_ADDR=address).post(
        "/api/v1/token", body, content_type="application/json"
    )
    assert answer.status_code != 429 or int(answer["Retry-After"]) > 0
    return answer.status_code


def test_guessing_the_secret_of_a_key_is_limited_by_key_and_address(user: User) -> None:
    key = key_of(user)
    wrong = {**key, "clientSecret": "wrong"}
    answers = [sign_in("10.0.0.1", grantType="app_token", **wrong) for _ in range(7)]
    assert answers == [401] * 5 + [429] * 2
    assert sign_in("10.0.0.1", grantType="app_token", **key) == 429
    assert sign_in("10.0.0.2", grantType="app_token", **key) == 200, "from elsewhere it is let in"


def test_a_user_who_returns_after_the_wait_can_sign_in(user: User) -> None:
    body = {"grantType": "password", "username": "mara", "password": "wrong"}
    client = Client(REMOTE_ADDR="10.0.0.3")
    with time_machine.travel(timezone.now(), tick=False) as clock:
        for _ in range(6):
            answer = client.post("/api/v1/token", body, content_type="application/json")
        assert answer.status_code == 429
        clock.shift(int(answer["Retry-After"]))
        assert sign_in("10.0.0.3", **{**body, "password": SECRET}) == 200


def test_right_secrets_are_never_limited(user: User) -> None:
    key = key_of(user)
    assert {sign_in("10.0.0.1", grantType="app_token", **key) for _ in range(30)} == {200}


def test_keys_that_do_not_exist_are_limited_by_address(user: User) -> None:
    answers = [
        sign_in("10.0.0.1", grantType="app_token", clientID=f"k{n}", clientSecret="x")
        for n in range(12)
    ]
    assert answers == [401] * 10 + [429] * 2


def test_wrong_passwords_from_elsewhere_lock_nobody_out(user: User) -> None:
    wrong = {"grantType": "password", "username": "mara", "password": "no"}
    assert [sign_in("10.0.0.9", **wrong) for _ in range(7)][-1] == 429
    assert sign_in("10.0.0.1", **{**wrong, "password": SECRET}) == 200
    web = Client(REMOTE_ADDR="10.0.0.1")
    answer = web.post("/accounts/login/", {"login": "mara", "password": SECRET})
    assert answer.status_code == 302


def test_the_secret_of_a_key_is_stored_as_its_hash(user: User) -> None:
    key = key_of(user)
    assert key["clientSecret"] not in user.access_keys.get().secret_hash
    assert sign_in("10.0.0.1", grantType="app_token", **{**key, "clientSecret": "x"}) == 401
    assert sign_in("10.0.0.1", grantType="app_token", **key) == 200


def test_a_field_that_a_token_request_does_not_have_is_named(db: None) -> None:
    status, answer = ask(grantType="app_token", applicationId="x")
    assert status == 400
    assert answer["complianceIssues"][0]["field"] == "applicationId"


def test_an_answer_that_stays_open_holds_no_connection_to_the_database(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[bool] = []
    monkeypatch.setattr(connection, "close", lambda: closed.append(True))
    request = RequestFactory().get("/")
    request.META["HTTP_AUTHORIZATION"] = (
        f"Bearer {tokens.access_token_for(UserFactory(username='ada'))}"
    )
    assert async_to_sync(AsyncBearer())(request).username == "ada"
    assert closed
