"""Let an MPI launcher start its ranks here without ssh: each worker listens on a socket in the
workload's folder, and mpirun's remote shell is this program, which connects to it.

``launcher WORKERS SLOTS PROGRAM …`` becomes the program, ``worker NAME`` listens, ``agent NAME …``
is the remote shell. It is run by its path, because it only depends on Python.
"""

import json
import os
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

MARKER = "TRAINYARD_GANG"  # as in system/marks.py: the folder of the workload
PATIENCE = 60.0  # seconds that a worker may take to listen
RETRY = 0.05
#: For Open MPI: everything is on this machine, whose cores the workers share.
SETTINGS = {
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
}
LOOPBACK = {"OMPI_MCA_oob_tcp_if_include": "lo", "OMPI_MCA_btl_tcp_if_include": "lo"}


def launching(argv: Sequence[str], workers: int, slots: int) -> list[str]:
    """The command line of a launcher with this program."""
    return [sys.executable, __file__, "launcher", str(workers), str(slots), *argv]


def waiting(name: str) -> list[str]:
    """The command line of a worker."""
    return [sys.executable, __file__, "worker", name]


def launcher(workers: int, slots: int, program: Sequence[str]) -> None:
    """Become the program. Each worker has a connection to it, by whose end it notices the
    program's."""
    names = [f"worker-{index}" for index in range(workers)]
    work = Path.cwd()
    for name in names:
        leash = _reach(name, time.monotonic() + PATIENCE)
        leash.set_inheritable(True)
        leash.detach()
    hosts = _folder() / "hosts"
    agent = _folder() / "agent"
    hosts.write_text("".join(f"{name} slots={slots}\n" for name in names))
    shell = shlex.join([sys.executable, __file__, "agent"])
    agent.write_text(f'#!/bin/sh\nexec {shell} "$@"\n')
    agent.chmod(0o700)
    ours = {"OMPI_MCA_plm_rsh_agent": str(agent), "OMPI_MCA_orte_default_hostfile": str(hosts)}
    os.chdir(work)
    given = SETTINGS | (LOOPBACK if sys.platform == "linux" else {}) | os.environ | ours
    try:
        os.execvpe(program[0], list(program), given)  # noqa: S606 -- no shell
    except OSError as error:
        sys.exit(f"{program[0]} could not be started: {error.strerror}")


def worker(name: str) -> None:
    """Run what agents ask for, until the launcher has ended."""
    os.chdir(_folder())  # a socket's path must be short
    for left in (name, f"{name}.new"):  # left by an earlier attempt
        Path(left).unlink(missing_ok=True)
    served = socket.socket(socket.AF_UNIX)
    served.bind(f"{name}.new")
    served.listen()
    Path(f"{name}.new").rename(name)
    leash, _ = served.accept()
    running: list[subprocess.Popen[bytes]] = []
    scratch = _folder() / f"tmp-{name}"  # what one host has once, its workers have each
    scratch.mkdir(exist_ok=True)
    served.settimeout(RETRY)
    leash.settimeout(RETRY)
    while not _has_ended(leash):
        with suppress(TimeoutError):
            _serve(served.accept()[0], scratch, running)
    for process in running:
        process.wait()


def _serve(asking: socket.socket, scratch: Path, running: list[subprocess.Popen[bytes]]) -> None:
    """Start a requested program; the agent gets its result."""
    asking.settimeout(PATIENCE)
    with asking, asking.makefile() as lines:
        command = json.loads(lines.readline())
        variables = os.environ | {"TMPDIR": str(scratch)}
        argv = ["/bin/sh", "-c", 'sh -c "$1" >&2; echo $?', "sh", command]
        running.append(subprocess.Popen(argv, env=variables, stdout=asking.fileno()))


def _has_ended(leash: socket.socket) -> bool:
    try:
        return not leash.recv(1)
    except TimeoutError:
        return False


def agent(argv: Sequence[str]) -> int:
    """In place of ssh: run a command at a worker, and exit with its code."""
    name, *command = argv
    with _reach(name, time.monotonic() + PATIENCE) as asking, asking.makefile() as lines:
        asking.sendall(f"{json.dumps(' '.join(command))}\n".encode())
        return int(lines.readline() or 1)


def _reach(name: str, until: float) -> socket.socket:
    os.chdir(_folder())
    while True:
        asking = socket.socket(socket.AF_UNIX)
        try:
            asking.connect(name)
        except OSError as error:
            asking.close()
            if time.monotonic() > until:
                sys.exit(f"{name} does not wait for its launcher: {error.strerror}")
            time.sleep(RETRY)
        else:
            return asking


def _folder() -> Path:
    folder = Path(os.environ[MARKER], "mpi")
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


if __name__ == "__main__":
    part, *rest = sys.argv[1:]
    if part == "launcher":
        launcher(int(rest[0]), int(rest[1]), rest[2:])
    elif part == "worker":
        worker(rest[0])
    else:
        sys.exit(agent(rest))
