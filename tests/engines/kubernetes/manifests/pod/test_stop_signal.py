"""A stop reaches a program that a shell started, as kubelet would deliver it."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engines.kubernetes.manifests.pod.stop_signal import stop_hook
from tests.waiting import wait_for

SAVES = """
import pathlib, signal, sys, time
folder = pathlib.Path(sys.argv[1])
def save(*_):
    (folder / "saved").touch()
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
(folder / "up").touch()
while True:
    time.sleep(0.05)
"""
SHELLS = [shell for shell in ("sh", "bash", "dash") if shutil.which(shell)]


def can_have_own_processes() -> bool:
    """Whether this user may start a process that is the first of its own."""
    unshare = ["unshare", "--pid", "--fork", "--mount-proc", "true"]
    return bool(shutil.which("unshare")) and subprocess.run(unshare, check=False).returncode == 0


needs_own_processes = pytest.mark.skipif(
    not can_have_own_processes(), reason="needs the right to make a namespace of processes"
)


@contextmanager
def container(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command as the first process of its own, as in a container."""
    unshare = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    process = subprocess.Popen([*unshare, *command])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def first_process(process: subprocess.Popen[bytes]) -> str:
    """Return the pid, outside of it, of the first process of a container."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return children.read_text().strip()


def run_hook(process: subprocess.Popen[bytes], command: list[str]) -> int:
    """Run the hook in the container, as kubelet does before its SIGTERM; return its exit code."""
    hook = stop_hook(command)["preStop"]["exec"]["command"]
    enter = ["nsenter", "--target", first_process(process), "--pid", "--mount"]
    return subprocess.run([*enter, *hook], check=False, timeout=20).returncode


@needs_own_processes
@pytest.mark.parametrize("shell", SHELLS)
def test_a_program_hears_of_the_stop_though_a_shell_started_it(tmp_path: Path, shell: str) -> None:
    script = tmp_path / "saves.py"
    script.write_text(SAVES)
    command = [shell, "-c", f"true && {sys.executable} {script} {tmp_path}; true"]
    with container(command) as process:
        wait_for((tmp_path / "up").exists)
        # The hook ends with the container if the program is quicker.
        assert run_hook(process, command) in {0, -signal.SIGKILL}
        wait_for((tmp_path / "saved").exists)


@needs_own_processes
def test_a_shell_that_traps_the_signal_passes_it_on_itself(tmp_path: Path) -> None:
    trap = f'trap "touch {tmp_path}/trapped" TERM; touch {tmp_path}/up; sleep 60 & wait; wait'
    command = ["sh", "-c", trap]
    with container(command) as process:
        wait_for((tmp_path / "up").exists)
        assert run_hook(process, command) == 0
        assert process.poll() is None
        os.kill(int(first_process(process)), signal.SIGTERM)
        wait_for((tmp_path / "trapped").exists)


@pytest.mark.parametrize("command", [[], ["python", "train.py"], ["/opt/shell", "-c", "x"]])
def test_other_commands_have_no_hook(command: list[str]) -> None:
    assert stop_hook(command) == {}
