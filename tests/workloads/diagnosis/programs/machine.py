"""Runs a program as a container would: with a folder, PATH and home of its own, and all output in
one stream."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.workloads.diagnosis.programs.program import Program
from workloads.diagnosis.record import TAIL_BYTES, TAIL_LINES
from workloads.logs.text import shown

WORKSPACE = Path("/workspace")
TIMEOUT_S = 240
SERVE = Path(__file__).with_name("serve.py")
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


def prepare() -> Path:
    """Write the commands to a folder for the PATH, and return it."""
    folder = Path("/run/tails")
    folder.mkdir(exist_ok=True)
    for name, script in COMMANDS.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    shutil.copy(SERVE, folder)
    WORKSPACE.mkdir(exist_ok=True)
    return folder


def tail_of(program: Program, environment: Path) -> list[str]:
    """Run a program, and return its last lines as the record of a failed rank has them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        program.write(folder)
        script = f"mount --bind {folder} {WORKSPACE}; cd {WORKSPACE}; exec {program.command}"
        output = _run(["unshare", "-m", "bash", "-c", script], environment)
    lines = output[-TAIL_BYTES:].decode(errors="replace").rstrip("\n").split("\n")
    return [shown(line.encode()).rstrip() for line in lines[-TAIL_LINES:]]


def _run(command: list[str], environment: Path) -> bytes:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    variables = {
        "PATH": f"{environment}/bin:/run/tails:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "HOME": str(WORKSPACE),
        "LANG": "C.UTF-8",
        "PORT": str(port),
        "PYTHONUNBUFFERED": "1",
    }
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=variables,
        start_new_session=True,
    ) as process:
        try:
            return process.communicate(timeout=TIMEOUT_S)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            sys.stderr.write(f"ended after {TIMEOUT_S} s: {command[-1]}\n")
            return process.communicate()[0]
