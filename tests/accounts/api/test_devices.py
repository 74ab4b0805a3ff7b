"""Signing in by a code: what a program and a person do, and what neither can."""

import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import AccessKey, DeviceSignIn, User
from audit.models import AuditEntry
from tests.factories import UserFactory

PAGE = "/device/"


def send(path: str, **body: Any) -> tuple[int, Any]:
    response = Client().post(f"/api/v1{path}", body, content_type="application/json")
    return response.status_code, json.loads(response.content)


def begin() -> dict[str, Any]:
    status, begun = send("/device-sign-ins", name="trainyard on laptop")
    assert status == 201, begun
    answer: dict[str, Any] = begun
    return answer


def collect(begun: dict[str, Any]) -> tuple[int, Any]:
    return send("/device-sign-ins/key", deviceCode=begun["deviceCode"])


@pytest.fixture
def ada(db: None, valkey: object) -> User:
    user: User = UserFactory(username="ada")
    return user


@pytest.fixture
def browser(ada: User) -> Client:
    """In which she is signed in."""
    client = Client()
    client.force_login(ada)
    return client


def test_an_approved_code_gives_one_key_with_an_end(browser: Client, ada: User) -> None:
    begun = begin()
    assert begun["verificationUriComplete"].endswith(f"/device/?code={begun['userCode']}")
    assert collect(begun) == (202, {"status": "waiting"})
    typed = begun["userCode"].lower().replace("-", " ")
    page = browser.get(PAGE, {"code": typed})
    assert begun["userCode"] in page.content.decode()
    assert "trainyard on laptop" in page.content.decode()
    assert not AccessKey.objects.exists(), "to look at it approves nothing"
    answered = browser.post(PAGE, {"code": begun["userCode"], "answer": "approve"})
    assert "Approved" in answered.content.decode()
    status, key = collect(begun)
    assert (status, key["username"], key["name"]) == (200, "ada", "trainyard on laptop")
    made = ada.access_keys.get()
    assert made.client_id == key["clientId"]
    assert made.expires_at
    assert timedelta(days=89) < made.expires_at - timezone.now() <= timedelta(days=90)
    assert collect(begun)[0] == 404, "the secret was told once"
    told = AuditEntry.objects.filter(target_name="trainyard on laptop")
    assert sorted((it.verb, it.by_name) for it in told) == [("approve", "ada"), ("create", "ada")]
    kept = "".join(map(str, DeviceSignIn.objects.values_list()))
    assert begun["deviceCode"] not in kept
    grant = {"grantType": "app_token", "clientID": key["clientId"]}
    assert send("/token", **grant, clientSecret=key["clientSecret"])[0] == 200


def test_a_denied_code_gives_nothing(browser: Client) -> None:
    begun = begin()
    browser.post(PAGE, {"code": begun["userCode"], "answer": "deny"})
    assert collect(begun)[0] == 403
    again = browser.post(PAGE, {"code": begun["userCode"], "answer": "approve"})
    assert again.status_code == 422
    assert not AccessKey.objects.exists()


def test_a_code_ends_after_ten_minutes(browser: Client) -> None:
    begun = begin()
    later = timezone.now() + timedelta(minutes=11)
    with time_machine.travel(later, tick=False):
        assert collect(begun)[0] == 404
        browser.force_login(User.objects.get())
        answered = browser.post(PAGE, {"code": begun["userCode"], "answer": "approve"})
        assert answered.status_code == 422
    assert not AccessKey.objects.exists()


def test_a_user_who_is_locked_meanwhile_gets_no_key(browser: Client, ada: User) -> None:
    begun = begin()
    browser.post(PAGE, {"code": begun["userCode"], "answer": "approve"})
    ada.is_active = False
    ada.save()
    assert collect(begun)[0] == 404
    assert not AccessKey.objects.exists()


def test_codes_cannot_be_guessed(browser: Client) -> None:
    begun = begin()
    codes = [browser.get(PAGE, {"code": "BBBB-BBBB"}).status_code for _ in range(11)]
    assert codes == [422] * 10 + [429]
    late = browser.post(PAGE, {"code": begun["userCode"], "answer": "approve"})
    assert late.status_code == 429, "not the right one either, after so many"
    assert send("/device-sign-ins/key", deviceCode="guess")[0] == 404


def test_sign_ins_are_begun_only_so_often_from_one_address(ada: User) -> None:
    codes = [send("/device-sign-ins", name="x")[0] for _ in range(21)]
    assert codes == [201] * 20 + [429]


def test_the_page_asks_for_a_sign_in_first(ada: User) -> None:
    answer = Client().get(PAGE, {"code": "BCDF-GHJK"})
    assert answer.status_code == 302
    assert "next=/device/%3Fcode" in answer["Location"]


def test_another_site_cannot_approve(ada: User) -> None:
    begun = begin()
    client = Client(enforce_csrf_checks=True)
    client.force_login(ada)
    sent = client.post(PAGE, {"code": begun["userCode"], "answer": "approve"})
    assert sent.status_code == 403
    assert collect(begun)[0] == 202
