"""The id of a request: in its answer, in the body of an error and in the log."""

import logging
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from core.rest.correlation import WithRequestId


def test_an_error_names_the_id_that_its_answer_and_the_log_have(
    db: None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.handler.addFilter(WithRequestId())
    answer = Client().get("/api/v1/workloads", headers={"X-Request-Id": "nightly-7"})
    assert answer["X-Request-Id"] == "nightly-7"
    assert answer.json()["requestId"] == "nightly-7"
    (line,) = (it for it in caplog.records if it.name == "django.request")
    assert line.request_id == " [nightly-7]"  # type: ignore[attr-defined]


def test_each_request_has_an_id_of_its_own(db: None) -> None:
    ids = {Client().get("/api/v1/workloads")["X-Request-Id"] for _ in range(3)}
    assert len(ids) == 3


@pytest.mark.parametrize("given", ["two words", "a" * 65, "line\tbreak", "ä"])
def test_an_id_that_no_log_can_show_is_replaced(db: None, given: str) -> None:
    answer = Client().get("/healthz", headers={"X-Request-Id": given})
    assert answer["X-Request-Id"] not in {"", given}


def test_pages_and_streams_have_one_too(client: Client, db: None) -> None:
    assert client.get("/accounts/login/")["X-Request-Id"]
    assert client.get("/stream/")["X-Request-Id"]


def test_the_settings_write_it_into_each_line() -> None:
    form: dict[str, Any] = dict(settings.LOGGING)["formatters"]["line"]  # type: ignore[index]
    formatter = logging.Formatter(form["format"], style="{", defaults=form["defaults"])
    record = logging.makeLogRecord({"name": "x", "levelname": "INFO", "msg": "hello"})
    assert formatter.format(record).endswith("x: hello")
    record.request_id = " [7]"
    assert formatter.format(record).endswith("x: hello [7]")
