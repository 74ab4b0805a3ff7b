"""A task is sent once until a worker has taken it. Losing a message costs no more than seconds."""

import logging
from typing import Any

import pytest
import redis
from celery import current_app
from django.db import transaction

from core.broker import enqueue
from core.broker.enqueue import MARK_SECONDS, SUBMIT, allow_next, send_once

TASK = "tests.look"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the tasks that were sent."""
    names: list[str] = []

    def send_task(task: str, args: list[str], *, queue: str) -> None:
        names.append(task)

    monkeypatch.setattr(current_app, "send_task", send_task)
    return names


@pytest.mark.django_db(transaction=True)
def test_a_task_is_sent_once_until_it_was_taken(valkey: redis.Redis, sent: list[str]) -> None:
    send_once(TASK, None, SUBMIT)
    send_once(TASK, None, SUBMIT)
    assert sent == [TASK]
    allow_next(TASK, None)
    send_once(TASK, None, SUBMIT)
    assert sent == [TASK, TASK]


@pytest.mark.django_db(transaction=True)
def test_a_task_is_sent_after_the_commit_and_not_after_a_rollback(
    valkey: redis.Redis, sent: list[str]
) -> None:
    with transaction.atomic():
        send_once(TASK, None, SUBMIT)
        assert not sent
        assert not valkey.keys()
    assert sent == [TASK]
    allow_next(TASK, None)
    with transaction.atomic():
        send_once(TASK, None, SUBMIT)
        transaction.set_rollback(True)
    assert sent == [TASK]


@pytest.mark.django_db(transaction=True)
def test_a_process_that_ends_before_sending_delays_the_task_by_seconds(
    valkey: redis.Redis, monkeypatch: pytest.MonkeyPatch, sent: list[str]
) -> None:
    def killed(*args: Any, **words: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(enqueue, "send", killed)
        with pytest.raises(KeyboardInterrupt):
            send_once(TASK, None, SUBMIT)
    [mark] = valkey.keys()
    assert 0 < int(valkey.ttl(mark)) <= MARK_SECONDS
    valkey.delete(mark)
    send_once(TASK, None, SUBMIT)
    assert sent == [TASK]


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_is_down_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, sent: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    nobody = redis.Redis(unix_socket_path="/nowhere/valkey.sock")
    monkeypatch.setattr(enqueue, "valkey_connection", lambda: nobody)
    with caplog.at_level(logging.WARNING):
        send_once(TASK, None, SUBMIT)
    assert not sent
    assert "waits for the next sweep" in caplog.text
