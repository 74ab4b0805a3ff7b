"""Terminals beside the processes of this machine."""

import pytest

from engines.base import EngineRefused, Launch
from engines.local.system import processes
from engines.shared.starts import start_of
from spec.phases import Phase
from tests.engines.local.conftest import LocalRig
from tests.engines.terminal import TerminalContract, opened, until, until_end
from tests.waiting import wait_for


class TestTerminal(TerminalContract):
    pass


@pytest.fixture
def running(rig: LocalRig) -> Launch:
    launched = rig.submit(rig.endless())
    rig.seen(launched, Phase.RUNNING)
    return launched


def test_a_local_terminal_starts_in_the_folder_of_its_rank(rig: LocalRig, running: Launch) -> None:
    with opened(rig, running, "pwd; echo $CHECKPOINT_DIR") as session:
        output = until_end(session).decode()
    assert str(rig.folder(running).rank_folder("master-0")) in output
    assert str(rig.folder(running).checkpoints) in output


def test_the_end_of_a_rank_ends_its_local_terminal(rig: LocalRig, running: Launch) -> None:
    with opened(rig, running, "echo here; sleep 600") as session:
        until(session, b"here")
        rig.engine.stop(running.handle, run=1)
        until_end(session)
        assert session.exit_code != 0
    with pytest.raises(EngineRefused):
        rig.engine.exec(running.handle, rank=0, argv=["/bin/sh"])


def test_a_closed_local_terminal_leaves_no_process_in_another_group(
    rig: LocalRig, running: Launch
) -> None:
    script = "set -m; trap '' HUP; sleep 600 & echo child=$!.; wait"
    with opened(rig, running, script) as session:
        output = until(session, b".\r\n")
        child = int(output.split(b"child=")[1].split(b".")[0])
        session.close()
    wait_for(lambda: not processes.is_alive(child, start_of(child)))
