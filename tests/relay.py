"""A relay in front of a server. A test can close it, and the server is then out of reach."""

import socket
import threading
from contextlib import suppress


class Relay:
    """Passes every connection on to ``target`` while it is open. ``port`` stays the same."""

    def __init__(self, target: tuple[str, int]) -> None:
        self._target = target
        self._sockets: list[socket.socket] = []
        self._door: socket.socket | None = None
        self.port = 0
        self.open()

    def open(self) -> None:
        """Accept connections again, at the same port as before."""
        self._door = socket.create_server(("127.0.0.1", self.port))
        self.port = self._door.getsockname()[1]
        threading.Thread(target=self._serve, args=[self._door], daemon=True).start()

    def close(self) -> None:
        """Refuse new connections, and cut those that are open."""
        door = self._door
        self._door = None
        if door is not None:
            _end(door)
        for known in self._sockets:
            _end(known)
        self._sockets.clear()

    def _serve(self, door: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = door.accept()
                server = socket.create_connection(self._target)
                self._sockets += [client, server]
                for source, sink in ((client, server), (server, client)):
                    threading.Thread(target=_pass_on, args=[source, sink], daemon=True).start()


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65_536):
            sink.sendall(piece)
    _end(sink)


def _end(known: socket.socket) -> None:
    with suppress(OSError):
        known.shutdown(socket.SHUT_RDWR)
    known.close()
