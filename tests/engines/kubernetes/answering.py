"""An API server that answers as a test says, to play clusters that are older, newer or poorer than
any at hand."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from kubernetes.client import Configuration
from kubernetes.client.api_client import ApiClient

from engines.base import Manifest
from engines.kubernetes.client.api import Api

Refusal = tuple[int, str]  # an HTTP status and its message


class Answering(ThreadingHTTPServer):
    """The server. ``answers`` has for each path an object, a refusal, or the bodies of the next
    answers. All else is 404."""

    daemon_threads = True
    request_queue_size = 64  # if it is full, a connection waits for a second

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, Manifest | Refusal | list[bytes]] = {}
        self.asked: list[str] = []
        self.queries: list[dict[str, str]] = []
        self.accepted: dict[str, str] = {}  # by path, the Accept header of the last request
        self.posted: list[str] = []
        self.awake = Event()  # cleared: requests are accepted and not answered
        self.awake.set()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def api(self) -> Api:
        configuration = Configuration()
        configuration.host = self.address
        configuration.retries = False
        return Api(ApiClient(configuration))


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Answering

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        self.server.asked.append(url.path)
        self.server.queries.append(dict(parse_qsl(url.query)))
        self.server.accepted[url.path] = self.headers["Accept"]
        self.server.awake.wait(30)
        self._answer(url.path, dict(parse_qsl(url.query)).get("labelSelector", ""))

    def do_POST(self) -> None:
        path = urlsplit(self.path).path
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posted.append(path)
        self._answer(path)

    def _answer(self, path: str, selector: str = "") -> None:
        found: Any = self.server.answers.get(path)
        if isinstance(found, list):
            found = found.pop(0) if found else None
        if found is None:
            found = (404, "the server could not find the requested resource")
        if isinstance(found, tuple):
            status, words = found
            self._write(status, json.dumps({"message": words}).encode())
        elif selector and isinstance(found, dict):
            items = [item for item in found["items"] if not is_left_out(item, selector)]
            self._write(200, json.dumps(found | {"items": items}).encode())
        else:
            self._write(200, found if isinstance(found, bytes) else json.dumps(found).encode())

    def _write(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status // 100 == 3:
            self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


def is_left_out(item: Manifest, selector: str) -> bool:
    """Whether the selector excludes an item by a label that it must not have. Labels that it must
    have are up to the test."""
    labels = item["metadata"].get("labels") or {}
    return any(term[1:] in labels for term in selector.split(",") if term.startswith("!"))


@contextmanager
def answering() -> Iterator[Answering]:
    """Run a server while the block runs."""
    with Answering() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.awake.set()
            server.shutdown()
            thread.join()
