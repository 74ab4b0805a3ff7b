"""Which thread answers what: plain views on threads that stay, streams on the event loop."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.http import HttpRequest
from pytest_django import Settings

from config.handler import Handler, is_asynchronous
from core.frames import with_room
from core.rest.correlation import WithRequestId
from tests.config.small_urls import ANSWERED


@pytest.fixture
def small(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Handler]:
    """Without middleware; plain and asynchronous are told apart by the address."""
    settings.MIDDLEWARE = []
    settings.ROOT_URLCONF = "tests.config.small_urls"
    settings.READ_THREADS = settings.CHANGE_THREADS = 1
    ANSWERED.clear()
    made = Handler()
    yield made
    for threads in vars(made).values():
        if isinstance(threads, ThreadPoolExecutor):
            threads.shutdown()


def ask(
    application: Handler, path: str, body: bytes = b"", method: str = "GET"
) -> tuple[int, bytes]:
    answer = whole(application, path, body, method)
    return int(answer["status"]), answer["body"].encode()


def whole(
    application: Handler, path: str, body: bytes, method: str, more: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The headers of the answer, and its ``status`` and ``body``."""
    sent: list[Mapping[str, Any]] = []
    waiting = [{"type": "http.request", "body": body}]

    async def receive() -> dict[str, Any]:
        if waiting:
            return waiting.pop()
        await asyncio.Event().wait()
        raise AssertionError("the client stays")

    async def send(message: Mapping[str, Any]) -> None:
        sent.append(message)

    named = {"host": "127.0.0.1", "content-length": str(len(body)), **(more or {})}
    headers = [(name.encode(), value.encode()) for name, value in named.items()]
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "headers": headers,
        "query_string": b"",
    }
    asyncio.run(application(scope, receive, send))
    answer = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
    content = b"".join(message.get("body", b"") for message in sent).decode()
    return {**answer, "status": str(sent[0]["status"]), "body": content}


def test_plain_views_share_a_thread_that_stays(small: Handler) -> None:
    assert ask(small, "/plain", b"hello") == (200, b"HELLO")
    assert ask(small, "/plain", b"again") == (200, b"AGAIN")
    assert ANSWERED == ["read_0", "read_0"]


def test_plain_views_have_room_for_deep_calls(small: Handler) -> None:
    """Else how deep a view is called decides whether what it draws takes twice the time."""
    _, callers = ask(small, "/callers")
    assert with_room.__name__ in callers.decode().split()


def test_changes_have_threads_of_their_own(small: Handler) -> None:
    """So a change that waits for the database's lock keeps no read waiting."""
    for path in ("/plain", "/api/plain"):
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"):
            assert ask(small, path, b"hello", method)[0] == 200
    assert 2 * [*2 * ["read_0"], *4 * ["change_0"]] == ANSWERED


def test_streams_do_not_take_a_thread(small: Handler) -> None:
    assert ask(small, "/streaming") == (200, b"streamed")
    assert ANSWERED == ["MainThread"]


@pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous")
def test_a_plain_view_that_streams_is_answered_whole(small: Handler) -> None:
    assert ask(small, "/pieces") == (200, b"one two")


def test_a_refusal_of_a_large_body_has_an_id_that_is_logged(
    small: Handler, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    caplog.handler.addFilter(WithRequestId())
    answer = whole(small, "/api/plain", 101 * b"a", "POST", {"x-request-id": "my-batch"})
    assert (answer["x-request-id"], answer["connection"]) == ("my-batch", "close")
    assert answer["x-content-type-options"] == "nosniff"
    assert answer["cache-control"] == "private, no-store"
    assert "default-src 'self'" in answer["content-security-policy"]
    error = json.loads(answer["body"])
    assert error["requestId"] == "my-batch"
    assert "send a batch in several" in error["details"]
    [line] = caplog.records
    assert "/api/plain" in line.getMessage()
    assert vars(line)["request_id"] == " [my-batch]"
    assert len(whole(small, "/plain", 101 * b"a", "POST")["x-request-id"]) == 36


def test_a_request_that_cannot_be_read_is_refused(small: Handler) -> None:
    assert ask(small, "/nowhere")[0] == 404
    small.request_class = _unreadable  # type: ignore[assignment] # any callable will do
    assert ask(small, "/plain")[0] == 400


@pytest.mark.parametrize("path", ["/plain", "/api/plain", "/streaming"])
def test_a_body_larger_than_anything_needs_is_not_kept(
    small: Handler, settings: Settings, path: str
) -> None:
    """Requests without a sign-in must not fill the disk, which all users share."""
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    assert ask(small, path, 100 * b"a", "POST")[0] == 200
    ANSWERED.clear()
    status, said = ask(small, path, 101 * b"a", "POST")
    assert status == 413
    assert b"The request is too large." in said
    assert not ANSWERED


def _unreadable(*_: object) -> HttpRequest:
    raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")


@pytest.mark.parametrize(
    ("path", "expected"), [("/stream/", True), ("/workloads/", False), ("/no/such/page", False)]
)
def test_streams_are_known_by_their_views(path: str, expected: bool) -> None:
    assert is_asynchronous(path) is expected
