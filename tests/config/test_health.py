"""``GET /healthz`` names what is down."""

import pytest
import redis
from django.db import OperationalError, connection
from django.test import Client
from pytest_django import Settings

from config import heartbeat
from tests.factories import UserFactory
from tests.web import signed_in

pytestmark = pytest.mark.django_db


def sign(valkey: redis.Redis, *processes: str) -> None:
    for process in processes:
        valkey.set(heartbeat.heartbeat_key(process), heartbeat.OK, ex=heartbeat.TIME_TO_LIVE)


def test_healthz_says_that_all_is_well_without_signing_in(
    client: Client, valkey: redis.Redis
) -> None:
    sign(valkey, "worker", "beat")
    answer = client.get("/healthz")
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ok",
        "checks": {
            "database": "ok",
            "storage": "ok",
            "broker": "ok",
            "worker": "ok",
            "beat": "ok",
        },
    }
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.parametrize("silent", ["worker", "beat"])
def test_a_silent_process_is_down(client: Client, valkey: redis.Redis, silent: str) -> None:
    sign(valkey, *({"worker", "beat"} - {silent}))
    answer = client.get("/healthz")
    assert answer.status_code == 503
    down = [name for name, state in answer.json()["checks"].items() if state != "ok"]
    assert down == [silent]


def test_healthz_answers_without_a_broker(client: Client, settings: Settings) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["checks"] == {
        "database": "ok",
        "storage": "ok",
        "broker": "down",
        "worker": "unknown",
        "beat": "unknown",
    }


def test_a_broker_that_cut_its_connections_answers_again(
    client: Client, valkey: redis.Redis
) -> None:
    sign(valkey, "worker", "beat")
    assert client.get("/healthz").json()["status"] == "ok"
    valkey.client_kill_filter(_type="normal", skipme=True)
    assert client.get("/healthz").json()["status"] == "ok"


def test_healthz_answers_without_a_database(
    client: Client, valkey: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign(valkey, "worker", "beat")
    with monkeypatch.context() as patch:
        patch.setattr(connection, "cursor", refuse)
        answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["database"] == "down"


def refuse() -> None:
    raise OperationalError("the server is gone")


def test_healthz_allows_only_reading(client: Client) -> None:
    assert client.post("/healthz").status_code == 405


@pytest.mark.parametrize("silent", ["worker", "beat"])
def test_every_page_says_which_process_is_silent(valkey: redis.Redis, silent: str) -> None:
    client = signed_in(UserFactory())
    sign(valkey, "worker", "beat")
    for address in ("/clusters/", "/health/notice/"):
        assert "Part of Trainyard is down" not in client.get(address).content.decode()
    valkey.delete(heartbeat.heartbeat_key(silent))
    for address in ("/clusters/", "/health/notice/"):
        page = client.get(address).content.decode()
        assert silent in page
        assert "Running trainings continue." in page


def test_without_a_broker_pages_open_and_say_so(settings: Settings) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    page = signed_in(UserFactory()).get("/clusters/")
    assert page.status_code == 200
    assert "The broker does not answer." in page.content.decode()


def test_the_notice_is_for_people_who_are_signed_in(client: Client) -> None:
    assert client.get("/health/notice/").status_code == 204


@pytest.mark.parametrize("part", ["web", "database"])
def test_healthz_answers_for_a_single_part(client: Client, valkey: redis.Redis, part: str) -> None:
    """Nobody gave a sign of life, and yet this part works."""
    answer = client.get("/healthz", {"of": part})
    assert (answer.status_code, answer.json()["checks"]) == (200, {part: "ok"})


def test_a_part_that_there_is_not_is_refused(client: Client) -> None:
    answer = client.get("/healthz", {"of": "weather"})
    assert answer.status_code == 400
    assert "web or database" in answer.json()["message"]
