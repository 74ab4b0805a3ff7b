"""Git servers for ranks of this machine, by HTTP and by SSH."""

import base64
import getpass
import os
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.certificates import certificate
from tests.waiting import wait_for

SSHD = Path("/usr/sbin/sshd")
TLS = b"\x16"  # first byte of a TLS handshake, with which no HTTP request begins


def git(folder: Path, *argv: str) -> None:
    """Run git in a folder."""
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    words = ["git", "-C", str(folder), *who, *argv]
    subprocess.run(words, check=True, capture_output=True)


def make_repository(folder: Path) -> None:
    """Create a repository with two commits, tagged ``v1`` and ``v2``."""
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    for number in (1, 2):
        (folder / "version").write_text(f"{number}\n")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "--message", f"Version {number}")
        git(folder, "tag", f"v{number}")
    git(folder, "update-server-info")


class Guarded(SimpleHTTPRequestHandler):
    """Serves files to clients with the user and password in ``known``, or to all if it is empty."""

    def __init__(self, *args: Any, known: str = "", **words: Any) -> None:
        self.known = known and f"Basic {base64.b64encode(known.encode()).decode()}"
        super().__init__(*args, **words)

    def do_GET(self) -> None:
        if self.known and self.headers.get("Authorization") != self.known:
            self.send_response(HTTPStatus.UNAUTHORIZED)
            self.send_header("WWW-Authenticate", 'Basic realm="code"')
            self.end_headers()
            return
        super().do_GET()


class Redirecting(ThreadingHTTPServer):
    """Accepts HTTPS on the same port as HTTP, and redirects from HTTP to it."""

    context: ssl.SSLContext

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        if connection.recv(1, socket.MSG_PEEK) == TLS:
            return self.context.wrap_socket(connection, server_side=True), address
        return connection, address


class Redirected(Guarded):
    """Serves files by HTTPS, and redirects everything else."""

    def do_GET(self) -> None:
        if isinstance(self.connection, ssl.SSLSocket):
            super().do_GET()
            return
        self.send_response(HTTPStatus.MOVED_PERMANENTLY)
        self.send_header("Location", f"https://{self.headers['Host']}{self.path}")
        self.send_header("Content-Length", "0")
        self.end_headers()


def redirecting(folder: Path, known: str, scratch: Path) -> AbstractContextManager[str]:
    """Serve files by HTTPS while the block runs, and yield their address by HTTP, which
    redirects."""
    server = Redirecting(("127.0.0.1", 0), partial(Redirected, directory=str(folder), known=known))
    server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.context.load_cert_chain(certificate(scratch / "forge.pem")[0])
    return _serving(server)


def web(folder: Path, known: str = "") -> AbstractContextManager[str]:
    """Serve files by HTTP while the block runs, and yield their address."""
    served = partial(Guarded, directory=str(folder), known=known)
    return _serving(ThreadingHTTPServer(("127.0.0.1", 0), served))


@contextmanager
def _serving(server: ThreadingHTTPServer) -> Iterator[str]:
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass(frozen=True)
class SshForge:
    """The address of a repository, the line of its host for known hosts, and the key that it
    accepts."""

    repository: str
    known: str
    key: str


def make_key(path: Path) -> tuple[str, str]:
    """Create an SSH key at a path, and return its private and public half."""
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    return path.read_text(), path.with_suffix(".pub").read_text().strip()


@contextmanager
def ssh(scratch: Path, repository: Path) -> Iterator[SshForge]:
    """Run sshd while the block runs. The test is skipped if this machine has none."""
    if not SSHD.exists():
        pytest.skip("this machine has no sshd")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    (_, host) = make_key(scratch / "host")
    (key, allowed) = make_key(scratch / "client")
    (scratch / "allowed").write_text(f"{allowed}\n")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = {
        "ListenAddress": f"127.0.0.1:{port}",
        "HostKey": scratch / "host",
        "AuthorizedKeysFile": scratch / "allowed",
        "PidFile": "none",
        "StrictModes": "no",
        "UsePAM": "no",
    }
    words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    server = subprocess.Popen(
        [str(SSHD), "-D", "-f", "/dev/null", *words], stderr=subprocess.DEVNULL
    )
    try:
        wait_for(lambda: _answers(port), 10, "sshd")
        address = f"ssh://{getpass.getuser()}@127.0.0.1:{port}{repository}"
        yield SshForge(address, f"[127.0.0.1]:{port} {host}", key)
    finally:
        server.kill()
        server.wait()


def _answers(port: int) -> bool:
    with socket.socket() as call:
        return call.connect_ex(("127.0.0.1", port)) == 0
