"""Reads what a typed line would send, and what REST makes of it."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from spec.formats import documents
from spec.kind import WorkloadKind
from spec.workload import WorkloadSpec
from trainyard_cli import app
from trainyard_cli.commands import submit
from trainyard_cli.rest.destinations import Destination

Body = dict[str, Any]


class Receiver:
    """Replaces the server, and keeps what would be sent to it."""

    def __init__(self, config: Path) -> None:
        self.config = config
        self.path = ""
        self.body = Body()
        kept = {"server": "http://127.0.0.1:9", "client_id": "a", "client_secret": "b"}
        project = {"id": "1", "name": "team-a", "clusterId": "c"}
        config.write_text(json.dumps({**kept, "project": project}))

    def send(self, _: Any, to: Destination, body: Body, *__: Any, **___: Any) -> None:
        """Keep a request. It has the signature of ``submit._send``."""
        self.path = to.path
        self.body = body

    def request(self, line: str) -> Body:
        """Run a line, and return the body that it would send."""
        program, *words = shlex.split(line.replace("\\\n", ""))
        assert program == "trainyard"
        assert app.main(["--config-file", str(self.config), *words]) == 0
        return self.body

    def typed(self, line: str) -> WorkloadSpec:
        """Run a line, and return the spec that REST makes of its request."""
        body = self.request(line)
        kind = next(it for it in WorkloadKind if it.traits.path == self.path)
        return stored(body, kind)


def stored(body: Body, kind: WorkloadKind) -> WorkloadSpec:
    """Return the spec that REST makes of a request."""
    if not kind.is_gang:
        document = documents.one_pod_from_wire(body["spec"], kind) | {"kind": kind.value}
    else:
        no_master = body.get("noMaster", False)
        master = body.get("masterSpec")
        document = documents.from_wire(body["spec"], no_master=no_master, master=master)
        if "roles" in document:  # in place of these
            del document["worker"], document["architecture"]
    return documents.load_spec(document)


@pytest.fixture
def receiver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Receiver:
    receiver = Receiver(tmp_path / "config.json")
    monkeypatch.setattr(submit, "_send", receiver.send)
    return receiver
