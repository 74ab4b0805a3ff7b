"""A running workload on a cluster in memory, and pages that open terminals in it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import redis
from asgiref.sync import async_to_sync
from django.conf import settings
from pytest_django import Settings

from accounts.models import User
from clusters import connections
from config.asgi import application
from engines.base import Launch
from engines.fake import FakeEngine, FakeSession
from tests.clusters.answering import answers
from tests.sockets import Socket
from tests.web import signed_in
from workloads.models import Workload

Scenario = Callable[[], Awaitable[Any]]


@pytest.fixture
def engine(
    monkeypatch: pytest.MonkeyPatch, valkey: redis.Redis, workload: Workload
) -> Iterator[FakeEngine]:
    fake = FakeEngine()
    answers(monkeypatch, "local", lambda cluster: fake)
    connections.forget_engines()
    fake.submit(Launch(workload.handle, 1, workload.spec))
    yield fake
    connections.forget_engines()
    for session in fake.sessions:
        session.program.close()
        session.close()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    monkeypatch.setattr("workloads.terminal.access.CHECK_SECONDS", 0.05)


class Page:
    """The browser's end of a terminal."""

    def __init__(self, socket: Socket, engine: FakeEngine) -> None:
        self.socket = socket
        self.engine = engine

    async def shell(self) -> FakeSession:
        """Wait for the session that this page opened."""
        while not self.engine.sessions:
            await asyncio.sleep(0.01)
        return self.engine.sessions[-1]

    async def ended(self) -> str:
        """Wait until the server ends the terminal, and return why. Output before that is
        skipped."""
        while not (text := (await self.socket.receive_output(5)).get("text")):
            pass
        assert (await self.socket.receive_output(5))["type"] == "websocket.close"
        return str(json.loads(text)["ended"])


def key_of(user: User) -> str:
    """Return the session cookie of a user."""
    return signed_in(user).cookies[settings.SESSION_COOKIE_NAME].value


def dial(
    workload: Workload,
    key: str,
    *,
    rank: int = 0,
    origin: str = "http://testserver",
    host: str = "testserver",
) -> Socket:
    """Return a websocket for the terminal of a rank, not yet open."""
    headers = [
        (b"host", host.encode()),
        (b"origin", origin.encode()),
        (b"cookie", f"{settings.SESSION_COOKIE_NAME}={key}".encode()),
    ]
    path = f"/workloads/{workload.pk}/terminal/{rank}/"
    scope = {"type": "websocket", "path": path, "query_string": b"", "headers": headers}
    return Socket(application, scope)


@asynccontextmanager
async def opened(
    workload: Workload, key: str, engine: FakeEngine, rank: int = 0
) -> AsyncIterator[Page]:
    """Open the terminal of a rank, and close it after the block."""
    socket = dial(workload, key, rank=rank)
    assert await socket.connect()
    try:
        yield Page(socket, engine)
    finally:
        await socket.disconnect()


def play(scenario: Scenario) -> Any:
    """Run a coroutine to its end, and return its result."""
    return async_to_sync(scenario)()
