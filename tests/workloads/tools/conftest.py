"""A running workload whose master serves a tool: a real server at a port of this machine."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
import redis
from asgiref.sync import async_to_sync
from django.conf import settings
from django.test import Client
from pytest_django import Settings

from clusters import connections
from config.asgi import application
from engines.base import Launch
from engines.fake import FakeEngine
from tests.clusters.answering import answers
from workloads.models import Workload


class Tool(BaseHTTPRequestHandler):
    """Answers with the request that it got."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/many":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for _ in range(100):
                self.wfile.write(b"2710\r\n" + b"x" * 10_000 + b"\r\n")
            self.wfile.write(b"0\r\n\r\n")
            return
        if self.path == "/cut":
            self.close_connection = True
            return
        length = int(self.headers.get("Content-Length", 0))
        seen = {"path": self.path, "headers": self.headers.items()}
        seen["body"] = self.rfile.read(length).decode()
        body = json.dumps(seen).encode()
        self.send_response(201)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Set-Cookie", "mine=1; Domain=localhost; Path=/x")
        self.send_header("Set-Cookie", "trainyard_session_8000=stolen")
        self.send_header("Set-Cookie", "__Host-trainyard_session_8000=stolen; Secure; Path=/")
        self.send_header("Clear-Site-Data", '"cookies"')
        self.send_header("Connection", "keep-alive")
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture(scope="session")
def port() -> Iterator[int]:
    """The port of a tool."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Tool)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


@pytest.fixture
def rule() -> dict[str, Any]:
    """Who may open the tool. A test that needs another rule changes this before it uses the
    workload."""
    return {}


@pytest.fixture
def served(workload: Workload, port: int, rule: dict[str, Any]) -> Workload:
    """A workload with the tool."""
    tool = {"name": "My Notebook", "toolType": "jupyter-notebook", "containerPort": port}
    return serve(workload, tool | rule)


def serve(workload: Workload, *tools: dict[str, Any]) -> Workload:
    """Give a workload these tools and no others, and return it."""
    workload.spec_json["worker"]["connections"] = list(tools)
    Workload.objects.filter(pk=workload.pk).update(spec_json=workload.spec_json)
    return workload


@pytest.fixture
def engine(
    monkeypatch: pytest.MonkeyPatch, valkey: redis.Redis, served: Workload, settings: Settings
) -> Iterator[FakeEngine]:
    """The engine, on which the workload runs."""
    settings.ALLOWED_HOSTS = ["testserver", "localhost"]
    fake = FakeEngine()
    answers(monkeypatch, "local", lambda cluster: fake)
    connections.forget_engines()
    fake.submit(Launch(served.handle, 1, served.spec))
    yield fake
    connections.forget_engines()


class Browser:
    """A browser that is signed in to Trainyard, and visits a tool's address with cookies of its
    own."""

    def __init__(self, client: Client, workload: Workload, slug: str = "my-notebook") -> None:
        self.client = client
        self.entry = f"/workloads/{workload.pk}/connect/{slug}/"
        self.origin = f"http://{slug}-{workload.pk.hex}.localhost"
        self.cookie = ""

    def enter(self) -> httpx.Response:
        """Follow CONNECT: the redirect to the tool's address, and the answer there."""
        answer = self.client.get(self.entry, HTTP_HOST="localhost")
        assert answer.status_code == 302, answer.content
        assert answer["Location"].startswith(f"{self.origin}/?trainyard_code=")
        came = self.get(answer["Location"].removeprefix(self.origin))
        if came.status_code == 303:
            self.cookie = came.headers["set-cookie"].split(";")[0]
        return came

    def get(self, path: str, method: str = "GET", **options: Any) -> httpx.Response:
        """Send a request to the tool's address."""
        name = settings.SESSION_COOKIE_NAME
        session = f"{name}=secret; __Host-{name}=secret; other=kept"
        headers = {"Cookie": f"{session}; {self.cookie}"} | options.pop("headers", {})

        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(app=application)
            async with httpx.AsyncClient(transport=transport, base_url=self.origin) as http:
                return await http.request(method, path, headers=headers, **options)

        return async_to_sync(ask)()
