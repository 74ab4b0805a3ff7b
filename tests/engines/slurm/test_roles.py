"""Gangs of named roles on a real Slurm: programs, host names and files of their own, and the lead's
end."""

import shlex
from dataclasses import replace
from typing import Any

import pytest

from engines.base import Launch, RankState
from engines.slurm.client import files
from engines.slurm.layout import SharedFolder
from spec.formats.documents import load_spec
from spec.phases import Phase, RankPhase, Reason
from tests.engines.reading import printed
from tests.engines.slurm.rig import SlurmRig
from tests.engines.terminal import until_end
from tests.waiting import wait_for

pytestmark = pytest.mark.slurm


@pytest.fixture(autouse=True)
def _mounts(rig: SlurmRig) -> None:
    rig.need_mounts()


def role(name: str, script: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "command": f"/bin/bash -c {shlex.quote(script)}", **fields}


def gang(rig: SlurmRig, *roles: dict[str, Any], **fields: Any) -> Launch:
    quick = {"backoffLimit": 0, "terminationGracePeriodSeconds": 1}
    return replace(rig.shell("true"), spec=load_spec({"roles": list(roles), **quick, **fields}))


def ranks(rig: SlurmRig, launched: Launch) -> tuple[RankState, ...]:
    seen = rig.engine.observe(launched.handle)
    assert seen
    return seen.ranks


def test_roles_run_their_own_programs_and_find_each_other_by_name(rig: SlurmRig) -> None:
    listen = (
        "import socket; server = socket.create_server(('master', 29517)); "
        "workers = [server.accept() for _ in range(2)]"
    )
    tell = "until exec 3<>/dev/tcp/master-0/29517; do sleep 0.1; done 2>/dev/null"
    launched = rig.submit(
        gang(
            rig,
            role("worker", f"{tell}; getent hosts worker-1", count=2),
            role(
                "master",
                f'python3 -c "{listen}"; echo $POD_NAME',
                leads=True,
                compute={"cpuCoreRequest": 2},
            ),
        )
    )
    seen = rig.over(launched)
    assert seen.phase is Phase.COMPLETED, printed(rig.engine, launched, 2)
    assert [(it.rank, it.role, it.index) for it in seen.ranks] == [
        (0, "worker", 0),
        (1, "worker", 1),
        (2, "master", 0),
    ]
    assert printed(rig.engine, launched, 2).endswith(b"demo-master-0\n")
    assert printed(rig.engine, launched, 0).split()[1:] == [b"worker-1"]


def test_the_gang_ends_with_its_lead(rig: SlurmRig) -> None:
    waits = role("worker", "exec sleep 600", count=2)
    succeeds = rig.submit(gang(rig, waits, role("head", "exit 0", leads=True)))
    wait_for(lambda: ranks(rig, succeeds)[2].phase is RankPhase.SUCCEEDED)
    rig.engine.stop(succeeds.handle, run=1)  # or the workers would have half a minute
    seen = rig.over(succeeds)
    assert (seen.phase, seen.message) == (Phase.COMPLETED, "")
    assert [it.phase for it in seen.ranks[:2]] == [RankPhase.STOPPED] * 2

    fails = rig.submit(gang(rig, waits, role("head", "exit 3", leads=True)))
    seen = rig.over(fails)
    assert (seen.phase, seen.reason) == (Phase.FAILED, Reason.RANK_FAILED)
    assert seen.message.startswith("head-0 (rank 2) exited with code 3")
    assert [it.phase for it in seen.ranks] == [RankPhase.STOPPED] * 2 + [RankPhase.FAILED]


def test_a_failed_rank_ends_the_gang_unless_only_the_lead_counts(rig: SlurmRig) -> None:
    fails = role("worker", "exit 4", count=2)
    waits = role("head", "until [ -e $CHECKPOINT_DIR/go ]; do sleep 0.1; done", leads=True)
    strict = rig.submit(gang(rig, fails, waits))
    seen = rig.over(strict)
    assert seen.phase is Phase.FAILED
    assert seen.ranks[2].phase is RankPhase.STOPPED

    lenient = rig.submit(gang(rig, fails, waits, ignoreNonLeadStatus=True))
    wait_for(lambda: [it.exit_code for it in ranks(rig, lenient)[:2]] == [4, 4])
    rig.seen(lenient, Phase.RUNNING)
    checkpoints = SharedFolder(rig.site.directory, lenient.handle.workload_id).checkpoints
    files.run_program(rig.transport, 'touch "$1/go"', checkpoints)
    seen = rig.over(lenient)
    assert seen.phase is Phase.COMPLETED
    assert "only its status counts: worker-0 exited with code 4" in seen.message


def test_roles_have_files_and_folders_at_absolute_paths(rig: SlurmRig) -> None:
    def storage(text: str) -> dict[str, Any]:
        entry = [{"name": "entry.sh", "content": f"#!/bin/sh\n{text}\n"}]
        program = [{"name": "train.py", "content": "import os; print(os.environ['WORD'])"}]
        at = {"mountPath": "/tmp/ty-entry.sh", "subPath": "entry.sh", "defaultMode": "0755"}
        return {
            "configMapVolume": [
                {"files": entry, **at},
                {"files": program, "mountPath": "/ty_train.py", "subPath": "train.py"},
            ],
            "emptyDirVolume": [{"path": "/models"}, {"path": "/dev/shm", "medium": "Memory"}],
            "pvc": [{"claimName": "shared", "claimInfo": {"size": "1G"}, "path": "/osmo/output"}],
        }

    entry = "python3 /ty_train.py > /models/$POD_INDEX; ls /models; touch /osmo/output/$POD_INDEX"
    master = {"name": "master", "leads": True, "command": "/tmp/ty-entry.sh"}
    worker = {"name": "worker", "count": 2, "command": "/tmp/ty-entry.sh"}
    waits = "until [ -e /osmo/output/1 ] && [ -e /osmo/output/2 ]; do sleep 0.1; done"
    launched = rig.submit(
        gang(
            rig,
            master | {"storage": storage(f"echo lead; {entry}; {waits}")},
            worker | {"storage": storage(f"echo other; {entry}; cat /models/*")},
            setup=("export WORD=ready",),
        )
    )
    seen = rig.over(launched)
    assert seen.phase is Phase.COMPLETED, printed(rig.engine, launched, 0)
    logs = [printed(rig.engine, launched, rank) for rank in range(3)]
    assert logs == [b"lead\n0\n", b"other\n1\nready\n", b"other\n2\nready\n"]
    read = {"claimName": "shared", "existingPvc": True, "path": "/in", "readOnly": True}
    reader = role("reader", "ls /in; touch /in/x || echo kept", storage={"pvc": [read]})
    later = rig.submit(gang(rig, reader))
    assert rig.over(later).phase is Phase.COMPLETED
    lines = printed(rig.engine, later, 0).decode().splitlines()
    assert [line for line in lines if ":" not in line] == ["0", "1", "2", "kept"]


def test_a_terminal_is_where_the_files_of_its_rank_are(rig: SlurmRig) -> None:
    files_of_rank = {"files": [{"name": "a", "content": "within"}], "mountPath": "/ty-files"}
    waits = role("head", "exec sleep 600", storage={"configMapVolume": [files_of_rank]})
    other = role("other", "exec sleep 600", compute={"cpuCoreRequest": 2}, leads=True)
    launched = rig.submit(gang(rig, other, waits))
    rig.seen(launched, Phase.RUNNING)
    command = ["/bin/sh", "-c", "cat /ty-files/a; getent hosts other"]
    session = rig.engine.exec(launched.handle, rank=1, argv=command)
    text = until_end(session)
    session.close()
    assert b"within" in text
    assert b"other-0 other" in text


def test_a_node_without_python_says_so(rig: SlurmRig) -> None:
    every_other = "mkdir -p bin; ln -sf /bin/* /usr/bin/* bin/; rm bin/python3*; PATH=$PWD/bin"
    site = replace(rig.site, prologue=every_other)
    rig.engine = type(rig.engine)(rig.transport, site, interval=0.5)
    seen = rig.over(rig.submit(gang(rig, role("head", "true", leads=True))))
    assert (seen.phase, seen.reason) == (Phase.FAILED, Reason.REFUSED)
    assert "it has no python3" in seen.message
