"""Stopping: gently, then not; at any moment."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from engines.base import EngineUnavailable, Launch
from spec.phases import Phase, RankPhase, Reason
from tests.engines.contract import OVER
from tests.engines.local.conftest import LocalRig
from tests.waiting import wait_for

WAIT = "echo up; while :; do sleep 0.05; done"
SAVES = f'trap "echo saved > $CHECKPOINT_DIR/$RANK; exit 143" TERM; {WAIT}'
DEAF = f'trap "" TERM; {WAIT}'


def test_ranks_may_save_before_they_end(rig: LocalRig) -> None:
    launched = rig.submit(rig.shell(SAVES, termination_grace_period_seconds=10))
    wait_for(lambda: [rig.log(launched, rank) for rank in (0, 1)] == ["up\n"] * 2)
    rig.engine.stop(launched.handle, run=1)
    seen = rig.over(launched)
    assert (seen.phase, seen.reason) == (Phase.STOPPED, Reason.STOPPED_BY_USER)
    assert [(rank.phase, rank.exit_code) for rank in seen.ranks] == [(RankPhase.STOPPED, 143)] * 2
    saved = rig.folder(launched).checkpoints
    assert sorted(path.name for path in saved.iterdir()) == ["0", "1"]
    again = rig.submit(replace(launched, run=2))  # the same checkpoints, a log of its own
    wait_for(lambda: rig.log(again, run=2) == "up\n")
    assert sorted(path.name for path in saved.iterdir()) == ["0", "1"]


def test_a_rank_that_outlives_the_grace_period_is_killed(rig: LocalRig) -> None:
    launched = rig.submit(rig.shell(DEAF, termination_grace_period_seconds=1))
    wait_for(lambda: rig.log(launched, 1) == "up\n")
    rig.engine.stop(launched.handle, run=1)
    assert rig.seen(launched, Phase.STOPPING, *OVER).phase is Phase.STOPPING
    seen = rig.over(launched)
    assert (seen.phase, seen.reason) == (Phase.STOPPED, Reason.GRACE_PERIOD_EXCEEDED)
    assert "worker-0" in seen.message
    assert "grace period of 1 s" in seen.message
    assert rig.processes(launched) == 0


def test_a_gang_without_a_grace_period_is_killed_at_once(rig: LocalRig) -> None:
    launched = rig.submit(rig.shell(DEAF, termination_grace_period_seconds=0))
    wait_for(lambda: rig.log(launched, 1) == "up\n")
    rig.engine.stop(launched.handle, run=1)
    assert rig.over(launched).phase is Phase.STOPPED


def test_a_stop_ends_the_wait_for_a_restart(rig: LocalRig) -> None:
    rig.engine = rig.with_delay(restart_delay=60)
    launched = rig.submit(rig.shell("exit 1", backoff_limit=5))
    wait_for(lambda: rig.reason(launched) is Reason.RESTARTING)
    rig.engine.stop(launched.handle, run=1)
    assert rig.over(launched).phase is Phase.STOPPED


def test_a_stop_before_the_start_is_not_lost(rig: LocalRig) -> None:
    launched = rig.endless()
    rig.submit(launched)
    rig.engine.stop(launched.handle, run=1)  # the supervisor may not even be up
    seen = rig.over(launched)
    assert seen.phase is Phase.STOPPED
    assert rig.processes(launched) == 0


def test_a_stop_after_the_end_changes_nothing(rig: LocalRig) -> None:
    launched = rig.submit(rig.prints())
    seen = rig.over(launched)
    rig.engine.stop(launched.handle, run=1)
    assert rig.engine.observe(launched.handle) == seen


def test_grandchildren_end_too(rig: LocalRig) -> None:
    script = "setsid sleep 60 & (trap '' TERM; sleep 60) & echo up; wait"
    launched = rig.submit(rig.shell(script, termination_grace_period_seconds=1))
    wait_for(lambda: rig.log(launched) == "up\n")
    rig.engine.stop(launched.handle, run=1)
    seen = rig.over(launched)
    assert (seen.phase, seen.reason) == (Phase.STOPPED, Reason.GRACE_PERIOD_EXCEEDED)
    wait_for(lambda: rig.processes(launched) == 0)


#: Takes a moment to save after SIGTERM.
SAVES_SLOWLY = """
import os, pathlib, signal, sys, time
folder = pathlib.Path(os.environ["CHECKPOINT_DIR"])
rank = os.environ["RANK"]
def save(*_):
    time.sleep(1)
    (folder / f"saved-{rank}").touch()
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
(folder / f"up-{rank}").touch()
while True:
    time.sleep(0.05)
"""
WRAPPINGS = {
    "after another command": "true && PROGRAM; true",
    "in a pipe": "PROGRAM | tee $CHECKPOINT_DIR/output; true",
    "in a session of its own": "setsid PROGRAM & wait",
    "in a shell of a shell": "sh -c 'PROGRAM; true'; true",
}
WAIT_FOR_1 = 'while [ ! -e "$CHECKPOINT_DIR/up-1" ]; do sleep 0.05; done'


@pytest.fixture
def program(tmp_path: Path) -> str:
    """The command of a program that takes a moment to save."""
    file = tmp_path / "saves.py"
    file.write_text(SAVES_SLOWLY)
    return f"{sys.executable} {file}"


def marks_of(rig: LocalRig, launched: Launch, name: str) -> list[str]:
    """Return the files that the ranks' programs left under this name."""
    return sorted(path.name for path in rig.folder(launched).checkpoints.glob(f"{name}-*"))


@pytest.mark.parametrize("script", WRAPPINGS.values(), ids=WRAPPINGS.keys())
def test_a_program_saves_though_its_shell_dies_at_once(
    rig: LocalRig, program: str, script: str
) -> None:
    script = script.replace("PROGRAM", program)
    launched = rig.submit(rig.shell(script, termination_grace_period_seconds=20))
    wait_for(lambda: marks_of(rig, launched, "up") == ["up-0", "up-1"])
    rig.engine.stop(launched.handle, run=1)
    seen = rig.over(launched)
    assert (seen.phase, seen.reason) == (Phase.STOPPED, Reason.STOPPED_BY_USER)
    assert marks_of(rig, launched, "saved") == ["saved-0", "saved-1"]


def test_a_rank_saves_after_the_failure_of_another(rig: LocalRig, program: str) -> None:
    script = f"if [ $RANK = 0 ]; then {WAIT_FOR_1}; exit 3; fi; {program}; true"
    launched = rig.submit(rig.shell(script, termination_grace_period_seconds=20))
    assert rig.over(launched).phase is Phase.FAILED
    assert marks_of(rig, launched, "saved") == ["saved-1"]


def test_what_a_rank_leaves_at_its_own_end_is_killed(rig: LocalRig, program: str) -> None:
    script = f"if [ $RANK = 1 ]; then {program} & fi; {WAIT_FOR_1}"
    launched = rig.submit(rig.shell(script, termination_grace_period_seconds=20))
    assert rig.over(launched).phase is Phase.COMPLETED
    assert rig.processes(launched) == 0
    assert marks_of(rig, launched, "saved") == []


def test_delete_leaves_neither_process_nor_file(rig: LocalRig) -> None:
    launched = rig.submit(rig.shell(DEAF, termination_grace_period_seconds=300))
    wait_for(lambda: rig.log(launched) == "up\n")
    folder = rig.folder(launched)
    rig.engine.delete(launched.handle)
    assert rig.processes(launched) == 0
    assert not folder.path.exists()
    assert not folder.state.exists()


def test_a_removal_lets_all_be_read_that_was_printed(rig: LocalRig) -> None:
    """Until nothing runs any more: what a rank prints before it is killed is not lost."""
    launched = rig.submit(rig.shell(DEAF))
    wait_for(lambda: rig.log(launched, 1) == "up\n")
    looks: list[tuple[int, str]] = []

    def at_rest() -> None:
        looks.append((rig.processes(launched), rig.log(launched, 1)))

    rig.engine.delete(launched.handle, at_rest=at_rest)
    assert looks == [(0, "up\n")]
    assert not rig.folder(launched).path.exists()
    rig.engine.delete(launched.handle, at_rest=at_rest)
    assert len(looks) == 1, "there was nothing left to look at"


def test_a_removal_that_is_held_back_leaves_all_to_the_next(rig: LocalRig) -> None:
    launched = rig.submit(rig.shell(DEAF))
    wait_for(lambda: rig.log(launched, 1) == "up\n")

    def not_yet() -> None:
        raise EngineUnavailable("its output is still being collected")

    with pytest.raises(EngineUnavailable):
        rig.engine.delete(launched.handle, at_rest=not_yet)
    assert (rig.processes(launched), rig.log(launched, 1)) == (0, "up\n")
    rig.engine.delete(launched.handle)
    assert not rig.folder(launched).path.exists()
