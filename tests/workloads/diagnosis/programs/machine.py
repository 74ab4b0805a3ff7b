"""Runs a program as a container would: with a folder, PATH and home of its own, and all output in
one stream."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.workloads.diagnosis.programs.program import Program

WORKSPACE = Path("/workspace")
KEPT_BYTES = 96 * 1024  # of the end of an output
MARK = "TAILS_PROGRAM"
SERVE = Path(__file__).with_name("serve.py")
#: Where the libraries and the compiler of a GPU are.
PASSED_ON = ("LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "CUDA_HOME", "CUDA_PATH")
# Commands that programs are started with: a small disk, small shared memory, another user, a
# server.
COMMANDS = {
    "small": 'mkdir -p small; mount -t tmpfs -o size="$1" tmpfs small; shift; exec "$@"',
    "shm": 'mount -t tmpfs -o size="$1" tmpfs /dev/shm; shift; exec "$@"',
    "readonly": 'mkdir -p readonly; mount -t tmpfs -o ro tmpfs readonly; exec "$@"',
    "nobody": 'exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"',
    "answer": f'exec python /run/tails/{SERVE.name} answer "$@"',
    "https": f'exec python /run/tails/{SERVE.name} https "$@"',
    "s3": f'exec python /run/tails/{SERVE.name} s3 "$@"',
}


@dataclass(frozen=True)
class Output:
    """The end of what a program printed, its exit code (-9 if it had to be killed), and how long it
    ran, in seconds."""

    text: str
    code: int
    seconds: float


def prepare() -> None:
    """Write the commands to a folder for the PATH."""
    folder = Path("/run/tails")
    folder.mkdir(exist_ok=True)
    for name, script in COMMANDS.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    shutil.copy(SERVE, folder)
    WORKSPACE.mkdir(exist_ok=True)


@cache
def has_mounts() -> bool:
    """Whether this machine lets a program have mounts of its own. If not, programs run in the
    folder itself, and its name is replaced in their output."""
    command = ["unshare", "-m", "mount", "--bind", "/", str(WORKSPACE)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def output_of(program: Program, environment: Path) -> Output:
    """Run a program to its end, or to its time limit."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name) / "workspace"
        folder.mkdir()
        Path(name).chmod(0o755)
        folder.chmod(0o777)
        program.write(folder)
        place = WORKSPACE if has_mounts() else folder
        script = f"cd {place}; exec {program.command}"
        command = ["bash", "-c", script]
        if has_mounts():
            mounted = f"mount --bind {folder} {WORKSPACE}; {script}"
            command = ["unshare", "-m", "bash", "-c", mounted]
        started = time.monotonic()
        code, output = _run(command, _variables(environment, place), program.limit_s)
        text = output.replace(bytes(place), bytes(WORKSPACE))[-KEPT_BYTES:]
        return Output(text.decode(errors="replace"), code, round(time.monotonic() - started, 1))


def _variables(environment: Path, home: Path) -> dict[str, str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return {
        "PATH": f"{environment}/bin:/run/tails:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:"
        + os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PORT": str(port),
        "PYTHONUNBUFFERED": "1",
        MARK: uuid.uuid4().hex,
        **{name: os.environ[name] for name in PASSED_ON if name in os.environ},
    }


def _run(command: list[str], variables: dict[str, str], limit_s: float) -> tuple[int, bytes]:
    with tempfile.TemporaryFile() as output:
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=variables,
            start_new_session=True,
        ) as process:
            try:
                process.wait(limit_s)
            except subprocess.TimeoutExpired:
                sys.stderr.write(f"ended after {limit_s:.0f} s: {command[-1]}\n")
            _end_all(variables[MARK])
        output.seek(0)
        return process.returncode, output.read()


def _end_all(mark: str) -> None:
    """Kill all processes of a program. Launchers start some in sessions of their own."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it ended meanwhile
            if f"{MARK}={mark}".encode() in path.read_bytes():
                os.kill(int(path.parent.name), 9)
