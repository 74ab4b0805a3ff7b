"""Gangs of named roles on this machine: programs of their own, host names, and the lead's end."""

import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engines.base import EngineRefused, Launch
from engines.shared import mounts
from spec.formats.documents import load_spec
from spec.phases import Phase, RankPhase
from tests.engines.local.conftest import LocalRig
from tests.engines.local.volumes import needs_mounts
from tests.waiting import wait_for


@pytest.fixture(autouse=True)
def _mounts(tmp_path: Path) -> None:
    needs_mounts(tmp_path)


def role(name: str, script: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "command": f"/bin/sh -c {shlex.quote(script)}", **fields}


def gang(rig: LocalRig, *roles: dict[str, Any], **fields: Any) -> Launch:
    spec = load_spec({"roles": list(roles), "backoffLimit": 0, **fields})
    return replace(rig.shell("true"), spec=spec)


def test_each_role_runs_its_own_program_and_finds_the_others_by_name(rig: LocalRig) -> None:
    listen = (
        "import socket; s = socket.create_server(('master', 29500)); print('got', s.accept()[1][0])"
    )
    # It tries until the server listens: the programs of a gang start at the same moment.
    tell = "until exec 3<>/dev/tcp/master-0/29500; do sleep 0.05; done; getent hosts worker-1"
    launched = rig.submit(
        gang(
            rig,
            role("worker", f"exec bash -c '{tell}' 2>/dev/null", count=2),
            role("master", f'{sys.executable} -c "{listen}"; echo $POD_NAME', leads=True),
        )
    )
    assert rig.over(launched).phase is Phase.COMPLETED, rig.log(launched, 2)
    assert [(it.rank, it.role, it.index) for it in rig.ranks(launched)] == [
        (0, "worker", 0),
        (1, "worker", 1),
        (2, "master", 0),
    ]
    assert "got 127." in rig.log(launched, 2)
    assert rig.log(launched, 2).endswith("demo-master-0\n")


def test_the_end_of_the_lead_is_that_of_the_gang(rig: LocalRig) -> None:
    waits = role("worker", "sleep 60")
    succeeds = rig.submit(gang(rig, waits, role("head", "exit 0", leads=True)))
    wait_for(lambda: [it.phase for it in rig.ranks(succeeds)][1:] == [RankPhase.SUCCEEDED])
    rig.engine.stop(succeeds.handle, run=1)  # or the worker would have half a minute
    assert rig.over(succeeds).phase is Phase.COMPLETED
    fails = rig.submit(gang(rig, waits, role("head", "exit 3", leads=True)))
    seen = rig.over(fails)
    assert seen.phase is Phase.FAILED
    assert seen.message.startswith("head-0 (rank 1) exited with code 3")


def test_a_failed_rank_ends_the_gang_unless_only_the_lead_counts(rig: LocalRig) -> None:
    fails = role("worker", "exit 4", count=2)
    waits = role("head", "until [ -e $CHECKPOINT_DIR/go ]; do sleep 0.05; done", leads=True)
    strict = rig.submit(gang(rig, fails, waits))
    assert rig.over(strict).phase is Phase.FAILED
    assert [rank.phase for rank in rig.ranks(strict)][2] is RankPhase.STOPPED

    lenient = rig.submit(gang(rig, fails, waits, ignoreNonLeadStatus=True))
    wait_for(lambda: [it.phase for it in rig.ranks(lenient)][:2] == [RankPhase.FAILED] * 2)
    rig.seen(lenient, Phase.RUNNING)
    (rig.folder(lenient).path / "checkpoints/go").touch()
    seen = rig.over(lenient)
    assert seen.phase is Phase.COMPLETED
    assert seen.message.startswith(
        "The head succeeded, and only its status counts: worker-0 exited"
    )


def test_each_role_has_files_and_folders_of_its_own_at_absolute_paths(rig: LocalRig) -> None:
    def script(text: str) -> dict[str, Any]:
        files = [{"name": "entry.sh", "content": text}]
        at = {"mountPath": "/tmp/entry.sh", "subPath": "entry.sh", "defaultMode": "0755"}
        program = {"mountPath": "/train_dist.py", "subPath": "train_dist.py"}
        return {
            "configMapVolume": [
                {"name": "entry", "files": files, **at},
                {"name": "program", "files": [{"name": "train_dist.py", "content": "print(7)"}]}
                | program,
            ],
            "emptyDirVolume": [{"path": "/models"}, {"path": "/osmo/data/output"}],
        }

    entry = f"{sys.executable} /train_dist.py > /models/$POD_INDEX; ls /models /osmo/data/output"
    launched = rig.submit(
        gang(
            rig,
            {"name": "master", "leads": True, "command": "/tmp/entry.sh"}
            | {"storage": script(f"#!/bin/sh\necho lead; {entry}\n")},
            {"name": "worker", "count": 2, "command": "/tmp/entry.sh"}
            | {"storage": script(f"#!/bin/sh\necho other; {entry}\n")},
        )
    )
    assert rig.over(launched).phase is Phase.COMPLETED, rig.log(launched)
    logs = [rig.log(launched, rank) for rank in range(3)]
    assert logs == [
        f"{word}\n/models:\n{rank}\n\n/osmo/data/output:\n"
        for rank, word in enumerate(["lead", "other", "other"])
    ]
    assert not Path("/train_dist.py").exists()


def test_complaints_name_the_role(rig: LocalRig, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = gang(
        rig,
        role("master", "true", leads=True, nodeType="a100"),
        {"name": "worker", "command": "/no/such/program"},
    )
    fields = [".".join(map(str, problem.path)) for problem in rig.engine.complaints(wrong)]
    assert fields == ["roles.0.nodeType", "roles.1.command"]
    monkeypatch.setattr(mounts, "why_no_mounts", lambda: "Operation not permitted")
    with pytest.raises(EngineRefused, match="roles: the ranks of named roles find each other"):
        rig.submit(gang(rig, role("master", "true")))


def test_tensorflow_finds_parameter_servers_by_their_role(rig: LocalRig) -> None:
    roles = [
        role("chief", "true", leads=True),
        role("ps", "true", count=2),
        role("worker", "true"),
        role("evaluator", "true"),
    ]
    ranks = rig.engine.render(gang(rig, *roles, distributedFramework="TF"))
    configs = [json.loads(rank["environment"]["TF_CONFIG"]) for rank in ranks]
    tasks = [(config["task"]["type"], config["task"]["index"]) for config in configs]
    assert tasks == [("chief", 0), ("ps", 0), ("ps", 1), ("worker", 0), ("evaluator", 0)]
    for config in configs:
        assert {name: len(hosts) for name, hosts in config["cluster"].items()} == {
            "chief": 1,
            "ps": 2,
            "worker": 1,
        }
