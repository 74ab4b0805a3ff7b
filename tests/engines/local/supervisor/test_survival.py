"""Whatever is killed, each workload ends once, in a definite phase, and leaves no process."""

import json
import os
import signal
import subprocess
import sys
import threading

import psutil
import pytest

from engines.base import EngineUnavailable
from engines.local import supervisors
from engines.local.records.layout import hold_lock, write_json
from engines.local.records.state import Record
from engines.local.system import processes
from engines.shared.starts import start_of
from spec.formats.documents import dump_spec
from spec.phases import Phase, Reason
from tests.engines.local.conftest import LocalRig
from tests.engines.local.supervisors import kill_supervisor, supervisor_of
from tests.waiting import wait_for

SUBMIT = """
import json, sys, time
from pathlib import Path
from uuid import UUID
from engines.base import Handle, Launch
from engines.local.engine import LocalEngine
from spec.formats.documents import load_spec
home, uid, spec = sys.argv[1:]
engine = LocalEngine(Path(home), images={}, virtual_gpus=1, restart_delay=0.05)
engine.submit(Launch(Handle(UUID(uid), "demo", "team-a"), 1, load_spec(json.loads(spec))))
print("submitted", flush=True)
time.sleep(60)
"""
GATE = 'echo up; while [ ! -e "$CHECKPOINT_DIR/go" ]; do sleep 0.02; done; echo done'


def test_a_training_outlives_who_submitted_it(rig: LocalRig) -> None:
    launched = rig.shell(GATE)
    spec = json.dumps(dump_spec(launched.spec))
    caller = subprocess.Popen(
        [sys.executable, "-c", SUBMIT, str(rig.home), str(launched.handle.workload_id), spec],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    with caller:
        assert caller.stdout
        assert caller.stdout.readline() == b"submitted\n"
        wait_for(lambda: rig.log(launched) == "up\n")
        os.killpg(caller.pid, signal.SIGKILL)
    (rig.folder(launched).checkpoints / "go").touch()
    assert rig.over(launched).phase is Phase.COMPLETED
    assert rig.log(launched) == "up\ndone\n"


def test_the_supervisor_is_nobodys_child(rig: LocalRig) -> None:
    launched = rig.submit(rig.endless())
    supervisor = supervisor_of(rig, launched)
    assert supervisor.pid not in {child.pid for child in psutil.Process().children(recursive=True)}
    assert os.getsid(supervisor.pid) != os.getsid(0)


def test_a_dead_supervisor_is_replaced_and_its_attempt_lost(rig: LocalRig) -> None:
    launched = rig.submit(rig.shell(GATE, backoff_limit=1))
    wait_for(lambda: [rig.log(launched, rank) for rank in (0, 1)] == ["up\n"] * 2)
    kill_supervisor(rig, launched)
    assert rig.processes(launched) >= 2  # they do not know yet
    wait_for(lambda: rig.attempt(launched) == 1)
    (rig.folder(launched).checkpoints / "go").touch()
    seen = rig.over(launched)
    assert (seen.phase, seen.attempt) == (Phase.COMPLETED, 1)
    assert rig.log(launched, 1) == "up\n"
    assert rig.processes(launched) == 0


def test_a_gang_whose_supervisor_dies_without_an_attempt_left_is_lost(rig: LocalRig) -> None:
    launched = rig.submit(rig.shell(GATE))
    wait_for(lambda: rig.log(launched) == "up\n")
    kill_supervisor(rig, launched)
    seen = rig.over(launched)
    assert (seen.phase, seen.reason) == (Phase.FAILED, Reason.LOST)
    assert rig.processes(launched) == 0


def test_a_stop_ends_what_a_dead_supervisor_left(rig: LocalRig) -> None:
    launched = rig.submit(rig.shell(GATE, backoff_limit=5))
    wait_for(lambda: rig.log(launched, 1) == "up\n")
    kill_supervisor(rig, launched)
    rig.engine.stop(launched.handle, run=1)
    assert rig.over(launched).phase is Phase.STOPPED
    assert rig.processes(launched) == 0


def test_delete_ends_what_a_dead_supervisor_left(rig: LocalRig) -> None:
    launched = rig.submit(rig.shell(GATE))
    wait_for(lambda: rig.log(launched, 1) == "up\n")
    kill_supervisor(rig, launched)
    rig.engine.delete(launched.handle)
    assert rig.processes(launched) == 0


def test_a_supervisor_that_always_dies_is_given_up(rig: LocalRig) -> None:
    launched = rig.submit(rig.endless())
    rig.seen(launched, Phase.RUNNING)
    kill_supervisor(rig, launched)
    folder = rig.folder(launched)
    with hold_lock(folder.change_lock):
        lives = folder.revivals(1)
        lives.write_text("." * (supervisors.SPARE_LIVES + 1))
        os.utime(lives, (0, 0))
        wait_for(lambda: not supervisors.is_starting(folder))
        supervisors.revive(folder)
    seen = rig.over(launched)
    assert (seen.phase, seen.reason) == (Phase.FAILED, Reason.LOST)
    assert rig.processes(launched) == 0


def test_a_supervisor_that_is_slow_to_start_is_not_taken_for_dead(rig: LocalRig) -> None:
    """On a machine that is very busy, each one that is started beside it makes it slower still."""
    launched = rig.prints()
    folder = rig.folder(launched)
    folder.create_run(1)
    write_json(folder.launch, rig.engine.plan(launched).to_json(), scratch=folder.path)
    lives = folder.revivals(1)
    lives.write_text("." * (supervisors.SPARE_LIVES + 1))
    os.utime(lives, (0, 0))
    folder.supervisor_log.touch()
    with subprocess.Popen(["sleep", "60"]) as slow:  # noqa: S607 -- whichever sleep there is
        folder.last_start.write_text(f"{slow.pid} {start_of(slow.pid)}")
        supervisors.revive(folder)
        assert Record.read(folder) is None
        slow.kill()
    supervisors.revive(folder)
    assert (rig.over(launched).reason, lives.stat().st_size) == (Reason.LOST, 6)


def test_a_supervisor_that_hangs_at_its_start_is_replaced(
    rig: LocalRig,
) -> None:
    launched = rig.prints()
    folder = rig.folder(launched)
    folder.create_run(1)
    write_json(folder.launch, rig.engine.plan(launched).to_json(), scratch=folder.path)
    with subprocess.Popen(["sleep", "60"]) as hung:  # noqa: S607 -- whichever sleep there is
        folder.last_start.write_text(f"{hung.pid} {start_of(hung.pid)}")
        os.utime(folder.last_start, (0, 0))
        with hold_lock(folder.change_lock):
            supervisors.revive(folder)
        assert hung.wait(10) == -signal.SIGKILL
    assert rig.over(launched).phase is Phase.COMPLETED
    assert folder.revivals(1).stat().st_size == 1, "a life"
    assert folder.supervisor_log.read_text().startswith(supervisors.HUNG)


def test_a_clock_that_is_set_takes_no_supervisor_for_another(
    rig: LocalRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is computed from the clock then differs for each process."""
    launched = rig.submit(rig.endless())
    rig.seen(launched, Phase.RUNNING)
    boot = psutil.boot_time()
    monkeypatch.setattr("psutil._pslinux.boot_time", lambda: boot + 3600)
    assert rig.engine._live_rank(launched.handle, 0)
    rig.engine.delete(launched.handle)
    assert rig.processes(launched) == 0


def test_a_terminated_supervisor_lets_the_ranks_save(rig: LocalRig) -> None:
    script = 'trap "echo saved; exit 143" TERM; echo up; while :; do sleep 0.05; done'
    launched = rig.submit(rig.shell(script, termination_grace_period_seconds=10))
    wait_for(lambda: [rig.log(launched, rank) for rank in (0, 1)] == ["up\n"] * 2)
    supervisor_of(rig, launched).terminate()
    wait_for(lambda: all(rig.log(launched, rank).endswith("saved\n") for rank in (0, 1)))


def test_a_submit_that_was_cut_short_is_taken_up(rig: LocalRig) -> None:
    launched = rig.prints()
    plan = rig.engine.plan(launched)
    folder = rig.folder(launched)
    folder.create_run(1)
    write_json(folder.launch, plan.to_json(), scratch=folder.path)  # and then it was killed
    assert Record.read(folder) is None
    rig.submit(launched)
    assert rig.over(launched).phase is Phase.COMPLETED
    assert rig.log(launched) == "hello\n"


def test_a_stranger_under_a_recycled_pid_is_left_alone() -> None:
    with subprocess.Popen(["sleep", "60"]) as stranger:  # noqa: S607 -- whichever sleep there is
        processes.kill(stranger.pid, start_of(os.getpid()))
        assert stranger.poll() is None
        processes.kill(stranger.pid, start_of(stranger.pid))
        assert stranger.wait(10) == -signal.SIGKILL


def test_a_broken_disk_is_an_outage(rig: LocalRig) -> None:
    rig.home.parent.mkdir(exist_ok=True)
    rig.home.write_text("a file where the folder should be")
    with pytest.raises(EngineUnavailable):
        rig.engine.submit(rig.prints())


def test_a_lost_state_is_written_again(rig: LocalRig) -> None:
    launched = rig.submit(rig.prints())
    rig.over(launched)
    rig.folder(launched).state.write_text("{")
    assert rig.over(launched).phase is Phase.COMPLETED


def test_a_gang_that_is_submitted_many_times_at_once_starts_once(rig: LocalRig) -> None:
    launched = rig.prints()
    threads = [threading.Thread(target=rig.engine.submit, args=[launched]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rig.over(launched).phase is Phase.COMPLETED
    assert rig.log(launched) == "hello\n"
