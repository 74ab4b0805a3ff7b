"""Programs that give a kubeconfig's credentials: asked again when the server takes them no more."""

import json
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import yaml

from engines.base import EngineUnavailable
from engines.kubernetes.client import api
from engines.kubernetes.client.api import Api
from engines.kubernetes.client.connect import connect

PLUGIN = """
import json, pathlib, sys
here = pathlib.Path(sys.argv[1])
with (here / "asked").open("a") as asked:
    asked.write("x")
status = {"token": (here / "token").read_text()}
kind = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential"}
print(json.dumps(kind | {"status": status}))
"""


class Guard(BaseHTTPRequestHandler):
    """Takes the token of the file ``taken`` alone."""

    here: Path

    def do_GET(self) -> None:
        good = self.headers["Authorization"] == f"Bearer {(self.here / 'taken').read_text()}"
        self.send_response(200 if good else 401)
        self.end_headers()
        self.wfile.write(json.dumps({"message": "" if good else "Unauthorized"}).encode())

    def log_message(self, *arguments: object) -> None:
        return


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Api]:
    (tmp_path / "plugin.py").write_text(PLUGIN)
    (tmp_path / "token").write_text("first")
    (tmp_path / "taken").write_text("first")
    guard = type("GuardHere", (Guard,), {"here": tmp_path})
    made = ThreadingHTTPServer(("127.0.0.1", 0), guard)
    thread = Thread(target=made.serve_forever, args=(0.05,))
    thread.start()
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": [str(tmp_path / "plugin.py"), str(tmp_path)],
        "interactiveMode": "Never",
    }
    address = f"http://127.0.0.1:{made.server_port}"
    kubeconfig = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": address}}],
        "users": [{"name": "u", "user": {"exec": plugin}}],
    }
    try:
        yield connect(yaml.safe_dump(kubeconfig))
    finally:
        made.shutdown()
        thread.join()
        made.server_close()


def asked(folder: Path) -> int:
    return len((folder / "asked").read_text())


def test_a_plugin_that_names_no_end_is_asked_after_a_401(server: Api, tmp_path: Path) -> None:
    server.get("/version")
    server.get("/version")
    assert asked(tmp_path) == 1
    for name in ("token", "taken"):
        (tmp_path / name).write_text("second")
    server.get("/version")
    server.get("/version")
    assert asked(tmp_path) == 2


def test_a_credential_plugin_without_a_new_token_is_called_rarely(
    server: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taken").write_text("other")
    for _ in range(3):
        with pytest.raises(EngineUnavailable, match="401"):
            server.get("/version")
    assert asked(tmp_path) == 2
    monkeypatch.setattr(api, "RENEW_SECONDS", 0.0)
    (tmp_path / "token").write_text("other")
    server.get("/version")
    assert asked(tmp_path) == 3


def test_a_credential_plugin_that_fails_leaves_the_token_there_is(
    server: Api, tmp_path: Path
) -> None:
    (tmp_path / "taken").write_text("other")
    (tmp_path / "token").unlink()
    with pytest.raises(EngineUnavailable, match="401"):
        server.get("/version")
    (tmp_path / "taken").write_text("first")
    server.get("/version")
