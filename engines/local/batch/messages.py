"""Messages between the hosts of a batch job and its programs: one JSON document a line.

Open files are sent with the first message of a connection.
"""

import json
import os
import socket
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

Message = dict[str, Any]
PATIENCE = 60.0  # seconds that a host may take to listen
RETRY = 0.05
MOST_FILES = 250  # what Linux lets one message carry is 253


def socket_name(rank: int) -> str:
    """Return the name of a host's socket, in the folder of the job."""
    return f"rank-{rank}"


def listen(rank: int) -> socket.socket:
    """Listen as the host of a rank. The current directory has to be the folder of the job, because
    a socket's path must be short."""
    name = socket_name(rank)
    Path(name).unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    # Renamed once it listens, so that nobody finds a socket without a listener.
    draft = f"{name}.new"
    Path(draft).unlink(missing_ok=True)
    listener.bind(draft)
    listener.listen(128)
    Path(draft).rename(name)
    return listener


def connect(folder: Path, rank: int) -> socket.socket:
    """Connect to the host of a rank, which may still be starting. Raises ``OSError`` if it does not
    listen in time. Not for several threads at once: it changes the current directory for a
    moment."""
    deadline = time.monotonic() + PATIENCE
    before = os.open(".", os.O_RDONLY)
    try:
        os.chdir(folder)
        while True:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(socket_name(rank))
            except OSError:
                connection.close()
                if time.monotonic() > deadline:
                    raise
                time.sleep(RETRY)
            else:
                return connection
    finally:
        os.fchdir(before)
        os.close(before)


def send(connection: socket.socket, message: Message, files: Sequence[int] = ()) -> None:
    """Send a message, with open files if it is the first one of the connection."""
    data = json.dumps(message).encode() + b"\n"
    if files:
        socket.send_fds(connection, [data[:1]], list(files))
        data = data[1:]
    connection.sendall(data)


def receive_first(connection: socket.socket) -> tuple[Message | None, list[int], bytes]:
    """Return the first message of a connection with its files, and what was read beyond it.
    ``None`` if the other side ended before."""
    data, files, _, _ = socket.recv_fds(connection, 65536, MOST_FILES)
    while b"\n" not in data:
        more = connection.recv(65536)
        if not more:
            for number in files:
                os.close(number)
            return None, [], b""
        data += more
    line, _, rest = data.partition(b"\n")
    return json.loads(line), files, rest


def receive_all(connection: socket.socket, rest: bytes = b"") -> Iterator[Message]:
    """Yield the messages until the other side ends the connection."""
    data = rest
    while True:
        line, newline, tail = data.partition(b"\n")
        if newline:
            data = tail
            yield json.loads(line)
            continue
        try:
            more = connection.recv(65536)
        except ConnectionError:
            return
        if not more:
            return
        data += more
