"""The script that clones a repository, run here as it is run in a pod."""

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from engines.kubernetes.manifests.pod.fetchers import GIT_SCRIPT
from tests.engines.local import forges

GIT = shutil.which("git")
pytestmark = pytest.mark.skipif(GIT is None, reason="git is not installed")


def git(*words: str, at: Path) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    found = subprocess.run(
        [str(GIT), *who, *words], cwd=at, check=True, capture_output=True, text=True
    )
    return found.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits on ``main``, and a branch ``v2`` from the first of them."""
    made = tmp_path / "repository"
    made.mkdir()
    git("init", "--quiet", "--initial-branch=main", at=made)
    for text in ("one", "two"):
        (made / "file").write_text(text)
        git("add", "file", at=made)
        git("commit", "--quiet", "-m", text, at=made)
    git("branch", "v2", "HEAD~1", at=made)
    return made


def fetch(repository: Path, target: Path, **told: str) -> subprocess.CompletedProcess[str]:
    told = {"PATH": os.environ["PATH"], "TMPDIR": str(repository.parent), **told}
    env = {"REPOSITORY": str(repository), "TARGET": str(target), **told}
    return subprocess.run(
        ["/bin/sh", "-c", GIT_SCRIPT], env=env, capture_output=True, text=True, check=False
    )


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A volume in which an earlier try left something."""
    made = tmp_path / "target"
    (made / "half").mkdir(parents=True)
    return made


def test_the_newest_commit_is_fetched(repository: Path, target: Path) -> None:
    assert fetch(repository, target).returncode == 0
    assert (target / "file").read_text() == "two"
    assert not (target / "half").exists()


def test_a_branch_and_a_commit_are_fetched(repository: Path, target: Path) -> None:
    assert fetch(repository, target, BRANCH="v2").returncode == 0
    assert (target / "file").read_text() == "one"
    first = git("rev-parse", "main~1", at=repository)
    assert fetch(repository, target, REVISION=first).returncode == 0
    assert (target / "file").read_text() == "one"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a folder away")
def test_the_folder_may_belong_to_somebody_else(repository: Path, target: Path) -> None:
    os.chown(target, 1000, 1000)
    assert fetch(repository, target, REVISION="v2").returncode == 0
    assert (target / "file").read_text() == "one"


def test_a_branch_that_is_not_there_fails_with_the_words_of_git(
    repository: Path, target: Path
) -> None:
    found = fetch(repository, target, BRANCH="none")
    assert found.returncode != 0
    assert "none" in found.stderr


def test_values_are_never_run(repository: Path, target: Path, tmp_path: Path) -> None:
    found = fetch(repository, target, BRANCH=f"$(touch {tmp_path}/ran); `touch {tmp_path}/ran`")
    assert found.returncode != 0
    assert not (tmp_path / "ran").exists()


#: Notes which credential helper git would ask when it checks a commit out, as LFS does then.
HOOK = """#!/bin/sh
git config --get-urlmatch credential.helper "$REPOSITORY" >"$TMPDIR/helper"
"""


def test_a_password_opens_the_repository_and_is_not_kept_or_printed(
    repository: Path, target: Path, tmp_path: Path
) -> None:
    git("update-server-info", at=repository)
    hook = tmp_path / "hooks/post-checkout"
    hook.parent.mkdir()
    hook.write_text(HOOK)
    hook.chmod(0o755)
    hooks = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.hooksPath"}
    env = {"GIT_USER": "u", "REVISION": "v2", "GIT_CONFIG_VALUE_0": str(hook.parent), **hooks}
    with forges.web(tmp_path, "u:p w") as address:
        origin = f"{address}/repository/.git"
        refused = fetch(repository, target, REPOSITORY=origin, GIT_PASSWORD="other", **env)
        assert refused.returncode
        cloned = fetch(repository, target, REPOSITORY=origin, GIT_PASSWORD="p w", **env)
    assert cloned.returncode == 0, cloned.stderr
    assert (target / "file").read_text() == "one"
    assert "GIT_PASSWORD" in (tmp_path / "helper").read_text()
    said = cloned.stdout + cloned.stderr + (target / ".git/config").read_text()
    assert "p w" not in said


def test_a_password_follows_a_redirect_to_https_on_the_same_server(
    repository: Path, target: Path, tmp_path: Path
) -> None:
    git("update-server-info", at=repository)
    with forges.redirecting(tmp_path, "u:p", tmp_path) as address:
        env = {"REPOSITORY": f"{address}/repository/.git", "GIT_USER": "u", "GIT_PASSWORD": "p"}
        cloned = fetch(repository, target, GIT_SSL_NO_VERIFY="1", **env)
    assert cloned.returncode == 0, cloned.stderr
    assert (target / "file").read_text() == "two"


def test_an_address_by_ssh_may_hold_an_equals_sign(
    repository: Path, target: Path, tmp_path: Path
) -> None:
    """A program in place of ssh says what it was asked for, and ends."""
    program = tmp_path / "ssh"
    program.write_text('#!/bin/sh\necho "$@" >"$TMPDIR/asked"\nexit 1\n')
    program.chmod(0o755)
    origin = "git@forge.example.com:a=b/c"
    failed = fetch(repository, target, REPOSITORY=origin, GIT_SSH=str(program))
    assert "invalid key" not in failed.stderr
    assert "a=b/c" in (tmp_path / "asked").read_text()


class GitServer(BaseHTTPRequestHandler):
    """Wants a password, but at ``/moved``: that is at another address, by the port of this."""

    server: HTTPServer
    moved: ClassVar[dict[int, str]] = {}
    heard: ClassVar[list[tuple[int, str]]] = []

    def do_GET(self) -> None:
        self.heard.append((self.server.server_port, self.headers.get("Authorization", "")))
        is_moved = self.path.startswith("/moved/")
        there = self.moved.get(self.server.server_port) if is_moved else None
        self.send_response(302 if there else 401)
        if there:
            self.send_header("Location", f"{there}{self.path}")
        self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[HTTPServer]]:
    monkeypatch.setattr(GitServer, "heard", [])
    several = [ThreadingHTTPServer(("127.0.0.1", 0), GitServer) for _ in range(2)]
    for server in several:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
    yield list(several)
    for server in several:
        server.shutdown()
        server.server_close()


def test_a_password_goes_to_the_server_of_the_repository_alone(
    servers: list[HTTPServer], tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where that redirects to another one, which asks for it, it gets none."""
    own, other = (f"http://127.0.0.1:{server.server_port}" for server in servers)
    monkeypatch.setattr(GitServer, "moved", {servers[0].server_port: other})
    for name in ("kept", "moved"):
        env = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path), "TARGET": str(target)}
        env |= {"REPOSITORY": f"{own}/{name}/x.git", "GIT_USER": "u", "GIT_PASSWORD": "p"}
        script = ["/bin/sh", "-c", GIT_SCRIPT]
        assert subprocess.run(script, env=env, capture_output=True, check=False).returncode
    sent = {port for port, header in GitServer.heard if header}
    asked = {port for port, _ in GitServer.heard}
    assert (sent, asked) == ({servers[0].server_port}, {it.server_port for it in servers})
