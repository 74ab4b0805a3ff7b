"""While nothing can be saved: 507 for what needs space, and a page that says why."""

import sqlite3

import pytest
import redis
from django.db import OperationalError
from django.test import Client
from pytest_django import Settings

from accounts import tokens
from core import storage
from core.storage import BUSY, DAMAGED, FULL, StorageTrouble
from tests.factories import UserFactory
from tests.web import HTMX, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> StorageTrouble:
    met = StorageTrouble(FULL, "/data")
    monkeypatch.setattr(storage, "on_disk", lambda reserve=None: met)
    return met


def bearer(client: Client) -> dict[str, str]:
    return {"Authorization": f"Bearer {tokens.issue(UserFactory(administrator=True))}"}


@pytest.mark.usefixtures("full")
@pytest.mark.parametrize("address", ["/projects/new/", "/workloads/new/", "/access-keys/new/"])
def test_a_page_that_would_save_is_refused(address: str) -> None:
    client = signed_in(UserFactory(administrator=True))
    answer = client.post(address)
    assert answer.status_code == 507
    assert "The disk is full" in answer.content.decode()
    assert client.post(address, **HTMX).status_code == 507


@pytest.mark.usefixtures("full")
def test_a_call_that_would_save_is_refused(client: Client) -> None:
    headers = bearer(client)
    answer = client.post("/api/v1/workloads/distributed", {}, "application/json", headers=headers)
    assert answer.status_code == 507
    assert answer.json()["code"] == 507
    assert "Running trainings continue" in answer.json()["details"]
    assert client.get("/api/v1/workloads", headers=headers).status_code == 200


@pytest.mark.usefixtures("full")
def test_a_deletion_and_signing_in_are_not_refused(client: Client) -> None:
    assert client.post("/accounts/login/").status_code == 200
    answer = client.delete("/api/v1/access-keys/999", headers=bearer(client))
    assert answer.status_code == 404
    member = signed_in(UserFactory())
    assert member.post("/access-keys/999/delete/").status_code == 404


@pytest.mark.usefixtures("full")
def test_every_page_says_so_and_administrators_what_to_do(client: Client) -> None:
    for user, advised in ((UserFactory(), False), (UserFactory(administrator=True), True)):
        page = signed_in(user).get("/clusters/").content.decode()
        assert page.count("The disk is full") == 1
        assert ("Free space on /data" in page) is advised
        assert "does not answer" not in page, "the cause hides what follows from it"
    assert "The disk is full" in client.get("/accounts/login/").content.decode()


def broken_by(code: int) -> OperationalError:
    error, cause = OperationalError("as Django raises it"), sqlite3.OperationalError("no")
    cause.sqlite_errorcode = code
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("code", "method", "status", "title"),
    [
        (sqlite3.SQLITE_CORRUPT, "get", 503, "The database is damaged"),
        (sqlite3.SQLITE_FULL, "post", 507, "The disk is full"),
        (sqlite3.SQLITE_BUSY, "post", 503, "The database is busy"),
    ],
)
def test_an_error_in_a_page_is_told_in_words(
    monkeypatch: pytest.MonkeyPatch, code: int, method: str, status: int, title: str
) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(UserFactory(administrator=True))

    def breaks(*_: object, **__: object) -> None:
        raise broken_by(code)

    monkeypatch.setattr("projects.views.pages.form_page", breaks)
    answer = getattr(client, method)("/projects/new/")
    assert (answer.status_code, title in answer.content.decode()) == (status, True)
    assert (storage.remembered() is not None) is (title != BUSY.title)


def test_an_error_in_a_call_is_told_in_json(
    client: Client, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    headers = bearer(client)

    def breaks(*_: object, **__: object) -> None:
        raise broken_by(sqlite3.SQLITE_FULL)

    monkeypatch.setattr("accounts.tokens.make_key", breaks)
    answer = client.post(
        "/api/v1/access-keys", {"name": "mine"}, "application/json", headers=headers
    )
    assert (answer.status_code, answer.json()["message"]) == (507, FULL.title)


def test_health_says_what_the_worker_met(client: Client, valkey: redis.Redis) -> None:
    valkey.set("trainyard:alive:worker", StorageTrouble(FULL, "/data/logs").encode())
    valkey.set("trainyard:alive:beat", "ok")
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert (answer.json()["checks"]["storage"], answer.json()["checks"]["worker"]) == ("full", "ok")
    storage.remember(StorageTrouble(DAMAGED, "db"))
    page = signed_in(UserFactory(administrator=True)).get("/clusters/").content.decode()
    assert page.count("callout-warning") == 1
