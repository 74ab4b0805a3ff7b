"""``GET /healthz`` names what is down."""

import pytest
import redis
from django.db import OperationalError, connection
from django.test import Client
from pytest_django import Settings

from config import heartbeat

pytestmark = pytest.mark.django_db


def sign(valkey: redis.Redis, *processes: str) -> None:
    for process in processes:
        valkey.set(heartbeat.key(process), "1", ex=heartbeat.GOOD_FOR)


def test_all_well_without_signing_in(client: Client, valkey: redis.Redis) -> None:
    sign(valkey, "worker", "beat")
    answer = client.get("/healthz")
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ok",
        "checks": {"database": "ok", "broker": "ok", "worker": "ok", "beat": "ok"},
    }
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.parametrize("silent", ["worker", "beat"])
def test_a_silent_process_is_down(client: Client, valkey: redis.Redis, silent: str) -> None:
    sign(valkey, *({"worker", "beat"} - {silent}))
    answer = client.get("/healthz")
    assert answer.status_code == 503
    down = [name for name, state in answer.json()["checks"].items() if state != "ok"]
    assert down == [silent]


def test_without_a_broker_it_still_answers(client: Client, settings: Settings) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["checks"] == {
        "database": "ok",
        "broker": "down",
        "worker": "unknown",
        "beat": "unknown",
    }


def test_without_a_database_it_still_answers(
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


def test_only_reading_is_allowed(client: Client) -> None:
    assert client.post("/healthz").status_code == 405
