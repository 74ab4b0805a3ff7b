"""Where ranks of this machine fetch from: a repository by http and by ssh."""

import base64
import getpass
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import wait_for

SSHD = Path("/usr/sbin/sshd")


def git(folder: Path, *argv: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    words = ["git", "-C", str(folder), *who, *argv]
    subprocess.run(words, check=True, capture_output=True)


def make_repository(folder: Path) -> None:
    """Two commits, with the tags ``v1`` and ``v2``."""
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    for number in (1, 2):
        (folder / "version").write_text(f"{number}\n")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "--message", f"Version {number}")
        git(folder, "tag", f"v{number}")
    git(folder, "update-server-info")


class Guarded(SimpleHTTPRequestHandler):
    """Files for who knows user and password; without any for everyone."""

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


@contextmanager
def web(folder: Path, known: str = "") -> Iterator[str]:
    """The address of its files."""
    served = partial(Guarded, directory=str(folder), known=known)
    server = ThreadingHTTPServer(("127.0.0.1", 0), served)
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
    """Its repository, the line of its host, and the key that it accepts."""

    repository: str
    known: str
    key: str


def make_key(path: Path) -> tuple[str, str]:
    """Private and public."""
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    return path.read_text(), path.with_suffix(".pub").read_text().strip()


@contextmanager
def ssh(scratch: Path, repository: Path) -> Iterator[SshForge]:
    if not SSHD.exists():
        pytest.skip("this machine has no sshd")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    (_, host), (key, allowed) = make_key(scratch / "host"), make_key(scratch / "client")
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
