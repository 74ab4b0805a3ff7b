"""Ports for a gang to meet at, and those that it serves."""

import fcntl
import random
import socket
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil

#: Below where Linux (32768) and macOS (49152) take ports for outgoing connections.
RANGE = range(20_000, 32_000)
#: Of a rank whose tool listens on a port of its container: the one to take instead, for the ports
#: of a machine are everybody's.
VARIABLE = "PORT_{}"


def reserve(home: Path, count: int) -> tuple[list[int], ExitStack]:
    """``count`` free ports, kept from other workloads here until the stack is closed.

    The sockets themselves are not held, since the ranks must bind them; a lock file for each port
    keeps other gangs away meanwhile, and the range keeps outgoing connections away.
    """
    folder = home / "ports"
    folder.mkdir(exist_ok=True)
    held, ports = ExitStack(), list[int]()
    for port in random.sample(RANGE, len(RANGE)):
        if len(ports) == count:
            return ports, held
        if _take(folder / str(port), held) and _is_free(port):
            ports.append(port)
    held.close()
    raise OSError("no free port is left on this machine")


def _take(path: Path, held: ExitStack) -> bool:
    file = path.open("a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return False
    held.enter_context(file)
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("", port))  # no SO_REUSEADDR: a port that still lingers is not free
        except OSError:
            return False
    return True


def is_served(pid: int, port: int) -> bool:
    """Whether this process, or one that it started, listens there."""
    with suppress(psutil.NoSuchProcess):
        leader = psutil.Process(pid)
        for process in (leader, *leader.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                for connection in process.net_connections("tcp"):
                    if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port:
                        return True
    return False
