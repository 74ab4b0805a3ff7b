"""Nothing outlives its workload, whatever it does to be forgotten."""

from contextlib import suppress

import psutil
import pytest

from engines.base import EngineUnavailable, Launch
from engines.local.system import marks, processes
from spec.phases import Phase
from tests.engines.local.conftest import LocalRig
from tests.engines.local.supervisors import kill_supervisor
from tests.engines.terminal import opened, until
from tests.waiting import wait_for

EXECVE = (
    "import os; os.fork() and os._exit(0); os.setsid(); "
    "os.execve('/bin/sleep', ['sleep', '7772'], {})"
)
#: Ways to leave everything behind by which a process could be known.
FLIGHTS = {
    "session": "setsid sleep 7772 &",
    "variables": "env -i sleep 7772 &",
    "both": "env -i setsid sleep 7772 &",
    "parent, too": "(env -i setsid sleep 7772 &);",
    "files, too": "(cd /; env -i setsid sleep 7772 </dev/null >/dev/null 2>&1 &);",
    "execve": f'python -c "{EXECVE}";',
}
GATE = 'while [ ! -e "$CHECKPOINT_DIR/go" ]; do sleep 0.02; done'


def fugitives(rig: LocalRig, launched: Launch) -> list[psutil.Process]:
    """One of each rank."""
    return wait_for(lambda: two if len(two := sleepers(rig, launched)) == 2 else [])


def sleepers(rig: LocalRig, launched: Launch) -> list[psutil.Process]:
    folder = rig.folder(launched).path
    own = [it for it in psutil.process_iter() if marks.rank_of(it.pid, folder) is not None]
    return [it for it in own if lives(it) and arguments(it) == ["7772"]]


def arguments(process: psutil.Process) -> list[str]:
    with suppress(psutil.NoSuchProcess):
        return process.cmdline()[1:]
    return []


def lives(process: psutil.Process) -> bool:
    """A zombie has ended, however long nobody asks for it, unless a thread of it runs."""
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and (
            process.status() != psutil.STATUS_ZOMBIE or process.num_threads() > 1
        )
    return False


@pytest.mark.parametrize("flight", FLIGHTS)
def test_strays_of_a_rank_end_with_the_workload(rig: LocalRig, flight: str) -> None:
    launched = rig.submit(rig.shell(f"{FLIGHTS[flight]} {GATE}"))
    fled = fugitives(rig, launched)
    (rig.folder(launched).checkpoints / "go").touch()
    assert rig.over(launched).phase is Phase.COMPLETED
    assert not any(map(lives, fled))


def test_strays_of_a_rank_end_with_the_rank_already(rig: LocalRig) -> None:
    script = f"[ $RANK = 0 ] && {{ {FLIGHTS['both']} sleep 0.2; exit; }}; {GATE}"
    fields = {"architecture": "workers_only", "num_workers": 2}
    launched = rig.submit(rig.shell(script, **fields))
    (fled,) = wait_for(lambda: sleepers(rig, launched))
    wait_for(lambda: not lives(fled))
    assert rig.seen(launched, Phase.RUNNING).ranks[1].exit_code is None


@pytest.mark.parametrize("flight", FLIGHTS)
def test_deleting_ends_strays_of_a_rank(rig: LocalRig, flight: str) -> None:
    launched = rig.submit(rig.shell(f"{FLIGHTS[flight]} {GATE}"))
    fled = fugitives(rig, launched)
    rig.engine.delete(launched.handle)
    assert not any(map(lives, fled))


def test_strays_of_a_rank_end_though_supervisor_and_rank_are_gone(rig: LocalRig) -> None:
    launched = rig.submit(rig.shell(f"{FLIGHTS['files, too']} {GATE}"))
    fled = fugitives(rig, launched)
    kill_supervisor(rig, launched)
    (rig.folder(launched).checkpoints / "go").touch()  # the ranks end before anybody looks
    wait_for(lambda: rig.processes(launched) == 2)
    assert rig.over(launched).phase is Phase.FAILED
    assert not any(map(lives, fled))


def test_strays_of_a_terminal_end_with_the_workload(rig: LocalRig) -> None:
    launched = rig.submit(rig.shell(GATE))
    rig.seen(launched, Phase.RUNNING)
    with opened(rig, launched, f"{FLIGHTS['both']} echo gone; read line") as session:
        until(session, b"gone")
        (fled,) = wait_for(lambda: sleepers(rig, launched))
    assert marks.rank_of(fled.pid, rig.folder(launched).path) == marks.HELPER  # outside the limits
    (rig.folder(launched).checkpoints / "go").touch()
    rig.over(launched)
    assert not lives(fled)


def test_a_workload_whose_processes_do_not_end_is_not_forgotten(
    rig: LocalRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched = rig.submit(rig.prints())
    rig.over(launched)
    with monkeypatch.context() as patched:
        patched.setattr(processes, "kill_leftovers", lambda *_, **__: False)
        with pytest.raises(EngineUnavailable, match="do not end"):
            rig.engine.delete(launched.handle)
    assert rig.folder(launched).path.exists()
    assert processes.kill_leftovers(rig.folder(launched).path)
