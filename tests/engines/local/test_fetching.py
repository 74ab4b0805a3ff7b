"""Git repositories on this machine: fetched before the ranks start, or why not."""

import socket
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from engines.base import EngineRefused
from spec.phases import Phase, Reason
from tests.engines.local.conftest import LocalRig
from tests.engines.local.volumes import mounting, needs_mounts
from tests.waiting import wait_for


def git(folder: Path, *argv: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    words = ["git", "-C", str(folder), *who, *argv]
    subprocess.run(words, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[str]:
    """Two commits, the first with the tag ``v1``, behind a plain web server."""
    needs_mounts(tmp_path)
    folder = tmp_path / "code"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    for number in (1, 2):
        (folder / "version").write_text(f"{number}\n")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "--message", f"Version {number}")
        git(folder, "tag", f"v{number}")
    git(folder, "update-server-info")
    served = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), served)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/code/.git"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def unanswered() -> Iterator[str]:
    """A server that takes calls and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/code"


def test_each_rank_has_the_revision_that_is_named(rig: LocalRig, repository: str) -> None:
    sources = [
        {"repository": repository, "path": "/trainyard-code"},
        {"repository": repository, "path": "/trainyard-old", "revision": "v1"},
    ]
    script = "cat /trainyard-code/version /trainyard-old/version; git -C /trainyard-code status -sb"
    launched = rig.submit(mounting(rig, script, workers=2, git=sources))
    assert rig.over(launched).phase is Phase.COMPLETED, rig.over(launched).message
    for rank in (0, 1):
        assert rig.log(launched, rank) == "2\n1\n## main...origin/main\n"
    assert not (rig.folder(launched).run(1) / "volumes").exists()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"branch": "nobody"}, "nobody not found"), ({"revision": "f00"}, "'f00' did not match")],
)
def test_a_repository_that_cannot_be_fetched_says_why(
    rig: LocalRig, repository: str, wrong: dict[str, str], said: str
) -> None:
    source = {"repository": repository, "path": "/trainyard-code", **wrong}
    ended = rig.over(rig.submit(mounting(rig, "true", git=[source])))
    assert (ended.phase, ended.reason) == (Phase.FAILED, Reason.REFUSED)
    assert f"{repository} at {next(iter(wrong.values()))} could not be fetched" in ended.message
    assert said in ended.message


def test_a_fetch_that_never_ends_can_be_stopped(rig: LocalRig, unanswered: str) -> None:
    source = {"repository": unanswered, "path": "/trainyard-code"}
    launched = rig.submit(mounting(rig, "true", git=[source]))
    handle, fetching = launched.handle, f"Fetching {unanswered} for /trainyard-code."
    wait_for(lambda: (it := rig.engine.observe(handle)) and it.message == fetching, 20, "the fetch")
    rig.engine.stop(launched.handle, run=1)
    assert rig.over(launched).phase is Phase.STOPPED
    assert not rig.processes(launched)


def test_a_repository_that_needs_a_password_is_refused(rig: LocalRig) -> None:
    source = {"repository": "https://h/x", "path": "/x", "secretRef": {"name": "mine"}}
    with pytest.raises(EngineRefused, match="no Secrets") as refusal:
        rig.engine.submit(mounting(rig, "true", git=[source]))
    assert refusal.value.field == "worker.storage.git[0].secretRef"
