"""A real receiver of webhooks on this machine."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: How a receiver responds to a request.
Behavior = Callable[[BaseHTTPRequestHandler], None]


@dataclass(frozen=True)
class Received:
    """A request that arrived."""

    headers: dict[str, str]
    body: str
    path: str


@dataclass
class HookReceiver:
    """A receiver. ``behave`` responds to each request, and may be changed at any time."""

    behave: Behavior
    received: list[Received] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"


def answers(status: int, text: str = "", **headers: str) -> Behavior:
    """Return a behavior that answers with this status, text and headers."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(text.encode())))
        handler.end_headers()
        handler.wfile.write(text.encode())

    return behave


@contextmanager
def listening(behave: Behavior | None = None) -> Iterator[HookReceiver]:
    """Run a receiver while the block runs, by default one that answers 204."""
    receiver = HookReceiver(behave or answers(204))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.received.append(Received(headers, body, self.path))
            receiver.behave(self)

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
