"""Stop of a batch script: its tasks may save, and the script may go on after its step."""

import signal
import sys

import pytest

from engines.local.batch.signals import EndWarning, parse_warning
from spec.phases import Phase, Reason
from tests.engines.local.batch.scripts import launch_script, wait_for_end
from tests.engines.local.conftest import LocalRig
from tests.waiting import wait_for

SAVES = """
import signal, sys, time
def save(*_):
    time.sleep(1)
    print("saved", flush=True)
    sys.exit()
signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
time.sleep(60)
"""
DEAF = "import signal, time; signal.signal(15, 1); print('ready', flush=True); time.sleep(60)"


def stop_when_printed(rig: LocalRig, body: str, word: str = "ready", grace: int = 30) -> list[str]:
    """Stop a script when a rank has printed a word, and return the lines of its first log."""
    launched = rig.submit(launch_script(body, "-n 1", terminationGracePeriodSeconds=grace))
    wait_for(lambda: word in rig.log(launched), 30, word)
    rig.engine.stop(launched.handle, run=1)
    ended = wait_for_end(rig, launched)
    assert ended.observation.phase is Phase.STOPPED
    assert rig.processes(launched) == 0
    lines = ended.output.splitlines()
    return [*lines, str(ended.observation.reason)]


def test_tasks_save_and_the_script_continues(rig: LocalRig) -> None:
    lines = stop_when_printed(rig, f"srun {sys.executable} -c '{SAVES}'\necho after $?")
    assert lines == ["ready", "saved", "after 0", Reason.STOPPED_BY_USER]


def test_no_step_begins_after_a_stop(rig: LocalRig) -> None:
    step = f"srun {sys.executable} -c '{SAVES}'"
    lines = stop_when_printed(rig, f"{step}\nsrun echo another || echo refused")
    assert lines[1] == "saved"
    assert "the job is ending" in lines[2]
    assert lines[3] == "refused"


def test_a_script_without_a_step_gets_the_signal(rig: LocalRig) -> None:
    lines = stop_when_printed(rig, f"exec {sys.executable} -c '{SAVES}'")
    assert lines[:2] == ["ready", "saved"]


def test_a_deaf_task_is_killed_after_the_grace_period(rig: LocalRig) -> None:
    body = f'srun {sys.executable} -c "{DEAF}"'
    assert stop_when_printed(rig, body, grace=1)[-1] == Reason.GRACE_PERIOD_EXCEEDED


WARNED = """
import signal, sys, time
def save(*_):
    print("warned", flush=True)
    sys.exit()
signal.signal(signal.SIGUSR1, save)
print("ready", flush=True)
time.sleep(60)
"""


def test_tasks_are_warned_before_the_time_limit(rig: LocalRig) -> None:
    body = f"srun {sys.executable} -c '{WARNED}'\necho after $?"
    launched = launch_script(body, "-n 2 --signal=USR1@56", timeLimitSeconds=60)
    ended = wait_for_end(rig, rig.submit(launched))
    assert ended.observation.phase is Phase.COMPLETED
    assert [log.splitlines()[:2] for log in ended.logs] == [["ready", "warned"]] * 2
    assert ended.output.splitlines()[-1] == "after 0"


def test_the_script_alone_is_warned_if_it_says_so(rig: LocalRig) -> None:
    body = """
    trap 'echo warned; kill $!; exit 7' USR1
    srun sleep 60 &
    wait
    """
    launched = launch_script(body, "-n 1 --signal=B:USR1@57", timeLimitSeconds=60)
    ended = wait_for_end(rig, rig.submit(launched))
    assert "warned" in ended.output
    assert "code 7" in ended.observation.message


@pytest.mark.parametrize(
    ("option", "warning"),
    [
        ("USR1", EndWarning(signal.SIGUSR1, 60, to_script=False)),
        ("B:SIGTERM@120", EndWarning(signal.SIGTERM, 120, to_script=True)),
        ("R:10@5", EndWarning(signal.SIGUSR1, 5, to_script=False)),
        ("RB:usr2", EndWarning(signal.SIGUSR2, 60, to_script=True)),
        ("NOSUCH@5", None),
        ("", None),
    ],
)
def test_the_option_is_read_as_slurm_writes_it(option: str, warning: EndWarning | None) -> None:
    assert parse_warning(option) == warning
