"""Where the embedded Valkey listens: a socket in the data folder, so copies share no port."""

import hashlib
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
