"""A proxy in front of an API server. Tests can cut and refuse what passes, or act at a chosen
moment."""

import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import urllib3
import yaml
from kubernetes.client.api_client import ApiClient
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from engines.kubernetes.client.connect import connect

HOPPING = {"connection", "transfer-encoding", "content-length", "keep-alive", "host"}


@dataclass(frozen=True)
class Trap:
    """A moment to act at: ``action`` is called once, when a request of ``method`` passes whose path
    contains ``part``.

    That is before the server gets the request, which is then lost, or ``after`` the server
    answered, and then the answer is lost.
    """

    method: str
    part: str
    action: Callable[[], None]
    after: bool


@dataclass(frozen=True)
class Write:
    """A request that changes something."""

    method: str
    path: str
    body: bytes


class ApiProxy:
    """The proxy. It speaks plain HTTP on loopback, and to the server as the kubeconfig says.

    ``writes`` are all requests so far that change something.
    """

    def __init__(self, kubeconfig: Path) -> None:
        client: ApiClient = connect(kubeconfig.read_text())._client
        self.server = client.configuration.host
        self._known = client.rest_client.pool_manager
        self._anyone = urllib3.PoolManager(ca_certs=client.configuration.ssl_ca_cert)
        self.down = False  # drops every request
        self.blind = False  # drops every watch
        self.delay = 0.0  # seconds before each answer begins
        self.token = ""  # shown to the server instead of the kubeconfig's identity
        self.watches: set[socket.socket] = set()
        self.lock = Lock()
        self.passing = Event()  # cleared: watches stay open, and silent
        self.passing.set()
        self._traps: list[Trap] = []
        self.writes: list[Write] = []
        self._http = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Bound", (Passing,), {"proxy": self})
        )
        self._http.daemon_threads = True
        Thread(target=self._http.serve_forever, daemon=True, name="proxy").start()

    def kubeconfig(self, folder: Path) -> Path:
        """Write a kubeconfig whose server is this proxy, and return its path."""
        path = folder / "proxy.kubeconfig"
        server = f"http://127.0.0.1:{self._http.server_port}"
        path.write_text(
            yaml.safe_dump(
                {
                    "clusters": [{"name": "proxy", "cluster": {"server": server}}],
                    "users": [{"name": "nobody", "user": {}}],
                    "contexts": [{"name": "x", "context": {"cluster": "proxy", "user": "nobody"}}],
                    "current-context": "x",
                }
            )
        )
        return path

    def trap(
        self, method: str, part: str, action: Callable[[], None], *, after: bool = False
    ) -> None:
        """Set a trap; see ``Trap``."""
        with self.lock:
            self._traps.append(Trap(method, part, action, after))

    @property
    def upstream(self) -> urllib3.PoolManager:
        """The connections to the server. Those for a token have no client certificate, which would
        win over it."""
        return self._anyone if self.token else self._known

    def hold(self) -> None:
        """Keep every watch open and silent until ``heal``, whatever the server sends."""
        self.passing.clear()

    def sprung(self, method: str, path: str, *, after: bool) -> bool:
        """Run the traps for this request. Returns whether there was one, so that the request must
        be dropped."""
        with self.lock:
            found = [
                trap
                for trap in self._traps
                if (trap.method, trap.after) == (method, after) and trap.part in path
            ]
            self._traps = [trap for trap in self._traps if trap not in found]
        for trap in found:
            trap.action()
        return bool(found)

    @property
    def is_armed(self) -> bool:
        """Whether any trap is left."""
        return bool(self._traps)

    def cut(self) -> None:
        """Break every watch in the middle."""
        with self.lock:
            for watch in self.watches:
                with suppress(OSError):
                    watch.shutdown(socket.SHUT_RDWR)

    def heal(self) -> None:
        """End all interference, and cut watches that were held."""
        self.down = False
        self.blind = False
        self.delay = 0.0
        self.token = ""
        self._traps = []
        if not self.passing.is_set():
            self.cut()
            self.passing.set()

    def close(self) -> None:
        self.cut()
        self._http.shutdown()
        self._http.server_close()


class Passing(BaseHTTPRequestHandler):
    """One request on its way to the server and back."""

    proxy: ApiProxy
    protocol_version = "HTTP/1.1"

    def _pass(self) -> None:
        method = self.command
        watches = "watch=true" in self.path
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if method != "GET":
            self.proxy.writes.append(Write(method, self.path, body))
        refused = self.proxy.down or (watches and self.proxy.blind)
        if refused or self.proxy.sprung(method, self.path, after=False):
            self.close_connection = True
            return
        Event().wait(self.proxy.delay)
        try:
            answer = self._ask(body)
        except HTTPError:
            self.close_connection = True
            return
        with answer:
            if self.proxy.sprung(method, self.path, after=True):
                self.close_connection = True
            elif watches:
                self._stream(answer)
            else:
                self._answer(answer, answer.read())

    def _ask(self, body: bytes) -> BaseHTTPResponse:
        headers = {k: v for k, v in self.headers.items() if k.lower() not in HOPPING}
        if self.proxy.token:
            headers["Authorization"] = f"Bearer {self.proxy.token}"
        url = self.proxy.server + self.path
        how: dict[str, Any] = {"preload_content": False, "timeout": None, "retries": False}
        upstream = self.proxy.upstream
        return upstream.request(self.command, url, body=body, headers=headers, **how)

    def _answer(self, answer: BaseHTTPResponse, body: bytes) -> None:
        self._head(answer)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, answer: BaseHTTPResponse) -> None:
        """Pass on a watch in chunks, as the server sends it. Without chunks, a client would wait
        for more."""
        self.close_connection = True
        self._head(answer)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with self.proxy.lock:
            self.proxy.watches.add(self.connection)
        try:
            for piece in answer.stream(65_536, decode_content=False):
                if not self.proxy.passing.is_set():
                    return
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
        except (OSError, HTTPError):
            return  # one side is gone; the other sees this connection close
        finally:
            self.proxy.passing.wait()
            with self.proxy.lock:
                self.proxy.watches.discard(self.connection)

    def _head(self, answer: BaseHTTPResponse) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in HOPPING:
                self.send_header(name, value)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _pass

    def log_message(self, *_: Any) -> None:
        """Log nothing."""
