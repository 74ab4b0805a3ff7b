"""Let an MPI launcher start its ranks here without ssh: each worker listens on a socket in the
workload's folder, and mpirun's remote shell is this program, which connects to that socket.

``launcher WORKERS SLOTS PROGRAM …`` becomes the program, ``worker NAME`` listens, ``agent NAME …``
is the remote shell. The file is run by its path, and imports only Python's own modules.
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
#: Open MPI starts nothing as root unless both are set; images that run as root set them, too.
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
#: Quickstarts start programs by it. It stands last on the launcher's PATH, behind a real one.
HOROVODRUN = """\
#!/bin/sh
echo "horovodrun: Horovod is not installed on this machine; install it by" \
    "pip install 'horovod[pytorch]' or 'horovod[tensorflow]', or start the program by mpirun" >&2
exit 127
"""
LOOPBACK = {"OMPI_MCA_oob_tcp_if_include": "lo", "OMPI_MCA_btl_tcp_if_include": "lo"}


def worker_names(workers: int) -> list[str]:
    """Return the names of the workers, which mpirun takes for hosts."""
    return [f"worker-{index}" for index in range(workers)]


def hostfile(workers: int, slots: int) -> str:
    """Return a file of hosts as mpirun reads it, like the MPI operator's."""
    return "".join(f"{name} slots={slots}\n" for name in worker_names(workers))


def launcher_command(argv: Sequence[str], workers: int, slots: int) -> list[str]:
    """Return the command line of a launcher whose program is ``argv``."""
    return [sys.executable, __file__, "launcher", str(workers), str(slots), *argv]


def worker_command(name: str) -> list[str]:
    """Return the command line of a worker."""
    return [sys.executable, __file__, "worker", name]


def settings_of_batch_script(hosts: Path) -> dict[str, str]:
    """Return what makes ``mpirun`` in a batch script start its processes next to the script, on the
    slots of the file ``hosts``. Open MPI would otherwise start a daemon at each node by srun."""
    values = {
        "OMPI_MCA_ras": "^slurm",
        "OMPI_MCA_plm": "^slurm",
        "OMPI_MCA_orte_default_hostfile": str(hosts),
    }
    return default_settings() | values


def default_settings() -> dict[str, str]:
    """Return the settings of Open MPI for this machine and its user."""
    settings = SETTINGS | LOOPBACK if sys.platform == "linux" else SETTINGS
    return settings | AS_ROOT if os.getuid() == 0 else settings


def run_launcher(workers: int, slots: int, program: Sequence[str]) -> None:
    """Wait for the workers, and become the program, which is mpirun or starts it."""
    names = worker_names(workers)
    working_dir = Path.cwd()
    for name in names:
        # The program inherits this connection and never closes it. The worker notices the end of
        # the program by the end of the connection.
        connection = _connect_to_worker(name, time.monotonic() + PATIENCE)
        connection.set_inheritable(True)
        connection.detach()
    hosts = _socket_folder() / "hosts"
    agent = _socket_folder() / "agent"
    hosts.write_text(hostfile(workers, slots))
    shell = shlex.join([sys.executable, __file__, "agent"])
    _write_program(agent, f'#!/bin/sh\nexec {shell} "$@"\n')
    programs = _socket_folder() / "programs"
    programs.mkdir(exist_ok=True)
    _write_program(programs / "horovodrun", HOROVODRUN)
    own_variables = {
        "OMPI_MCA_plm_rsh_agent": str(agent),
        "OMPI_MCA_orte_default_hostfile": str(hosts),
        "PATH": f"{os.environ.get('PATH', os.defpath)}:{programs}",
    }
    os.chdir(working_dir)
    variables = default_settings() | os.environ | own_variables
    try:
        os.execvpe(program[0], list(program), variables)  # noqa: S606 -- no shell
    except OSError as error:
        sys.exit(f"{program[0]} could not be started: {error.strerror}")


def _write_program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o700)


def run_worker(name: str) -> None:
    """Start the programs that agents request, until the launcher has ended."""
    os.chdir(_socket_folder())  # a socket's path must be short
    for stale in (name, f"{name}.new"):  # of an earlier attempt
        Path(stale).unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{name}.new")
    listener.listen()
    # Renamed once it listens, so that the launcher never finds a socket without a listener.
    Path(f"{name}.new").rename(name)
    launcher, _ = listener.accept()
    running: list[subprocess.Popen[bytes]] = []
    # Open MPI expects one temporary folder for each host. Each worker counts as a host.
    scratch = _socket_folder() / f"tmp-{name}"
    scratch.mkdir(exist_ok=True)
    listener.settimeout(RETRY)
    launcher.settimeout(RETRY)
    while not _has_ended(launcher):
        with suppress(TimeoutError):
            _start_program(listener.accept()[0], scratch, running)
    for process in running:
        process.wait()


def _start_program(
    connection: socket.socket, scratch: Path, running: list[subprocess.Popen[bytes]]
) -> None:
    """Start a requested program; the agent gets its result."""
    connection.settimeout(PATIENCE)
    with connection, connection.makefile() as lines:
        command = json.loads(lines.readline())
        variables = os.environ | {"TMPDIR": str(scratch)}
        argv = ["/bin/sh", "-c", 'sh -c "$1" >&2; echo $?', "sh", command]
        running.append(subprocess.Popen(argv, env=variables, stdout=connection.fileno()))


def _has_ended(launcher: socket.socket) -> bool:
    """Whether the launcher has ended: its connection then has no more to read."""
    try:
        return not launcher.recv(1)
    except TimeoutError:
        return False


def run_agent(argv: Sequence[str]) -> int:
    """Run a command at a worker as ssh would, and return its exit code."""
    name, *command = argv
    connection = _connect_to_worker(name, time.monotonic() + PATIENCE)
    with connection, connection.makefile() as lines:
        connection.sendall(f"{json.dumps(' '.join(command))}\n".encode())
        return int(lines.readline() or 1)


def _connect_to_worker(name: str, until: float) -> socket.socket:
    os.chdir(_socket_folder())
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(name)
        except OSError as error:
            connection.close()
            if time.monotonic() > until:
                sys.exit(f"{name} does not wait for its launcher: {error.strerror}")
            time.sleep(RETRY)
        else:
            return connection


def _socket_folder() -> Path:
    folder = Path(os.environ[MARKER], "mpi")
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


if __name__ == "__main__":
    part, *rest = sys.argv[1:]
    if part == "launcher":
        run_launcher(int(rest[0]), int(rest[1]), rest[2:])
    elif part == "worker":
        run_worker(rest[0])
    else:
        sys.exit(run_agent(rest))
