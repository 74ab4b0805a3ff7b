"""Ports for a gang's rendezvous and tools."""

import fcntl
import random
import socket
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil

#: Below the ranges for outgoing connections of Linux (32768) and macOS (49152).
RANGE = range(20_000, 32_000)
#: Variable with the port that a rank's tool should use instead of its container's, because all
#: ranks share this machine's ports.
PORT_VARIABLE = "PORT_{}"


def reserve(home: Path, count: int) -> tuple[list[int], ExitStack]:
    """Reserve ``count`` free ports until the returned stack is closed.

    Raises ``OSError`` if there are not enough.
    """
    # The ports are not bound, because the ranks bind them. A lock file for each keeps other gangs
    # away, and the range keeps outgoing connections away.
    folder = home / "ports"
    folder.mkdir(exist_ok=True)
    locks = ExitStack()
    ports = list[int]()
    for port in random.sample(RANGE, len(RANGE)):
        if len(ports) == count:
            return ports, locks
        if _lock_port(folder / str(port), locks) and _is_free(port):
            ports.append(port)
    locks.close()
    raise OSError("no free port is left on this machine")


def _lock_port(path: Path, locks: ExitStack) -> bool:
    file = path.open("a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return False
    locks.enter_context(file)
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("", port))  # no SO_REUSEADDR: a lingering port is not free
        except OSError:
            return False
    return True


def is_served(pid: int, port: int) -> bool:
    """Whether this process or one of its descendants listens on the port."""
    with suppress(psutil.NoSuchProcess):
        leader = psutil.Process(pid)
        for process in (leader, *leader.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                for connection in process.net_connections("tcp"):
                    if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port:
                        return True
    return False
