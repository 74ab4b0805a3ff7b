"""What the log says of requests that were refused, and of those that broke."""

import logging

import pytest
from django.test import Client
from pytest_django import Settings

from core.logs import BriefRefusals
from tests.factories import UserFactory
from tests.web import signed_in

FORMAT = logging.Formatter("%(message)s")


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    """As the handler of the settings writes them."""
    brief = BriefRefusals()
    return [line for record in caplog.records if brief.filter(record) for line in said(record)]


def said(record: logging.LogRecord) -> list[str]:
    return FORMAT.format(record).splitlines()


@pytest.mark.django_db
def test_a_forbidden_page_is_one_line_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert signed_in(UserFactory()).get("/users/").status_code == 403
    assert lines(caplog) == ["Forbidden (Permission denied): /users/"]


@pytest.mark.django_db
def test_a_defect_keeps_its_traceback(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(UserFactory())
    monkeypatch.setattr("core.styleguide.sample_form", lambda: 1 / 0)
    assert client.get("/styleguide/").status_code == 500
    assert "ZeroDivisionError: division by zero" in lines(caplog)


def test_the_handler_of_the_settings_is_brief(settings: Settings) -> None:
    assert "brief_refusals" in settings.LOGGING["handlers"]["console"]["filters"]


def test_a_page_that_times_out_is_one_line_in_the_log() -> None:
    """Another line says what was busy."""
    record = logging.makeLogRecord({"msg": "Service Unavailable", "status_code": 503})
    try:
        raise OSError("database is locked")
    except OSError as error:
        record.exc_info = (OSError, error, error.__traceback__)
    assert BriefRefusals().filter(record)
    assert said(record) == ["Service Unavailable"]


def test_what_trainyard_does_not_have_is_a_warning() -> None:
    record = logging.makeLogRecord({"levelno": logging.ERROR, "status_code": 501})
    assert BriefRefusals().filter(record)
    assert (record.levelno, record.levelname) == (logging.WARNING, "WARNING")
