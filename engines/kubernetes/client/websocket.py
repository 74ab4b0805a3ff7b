"""A websocket of the API server as a socket of ours.

Each message starts with a byte that names its channel: the protocol ``v4.channel.k8s.io``, which
servers have spoken since long before 1.20 and still do. One thread does all that touches the
websocket, for TLS connections must not be read and written by two at a time.
"""

import select
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress

from websocket import ABNF, WebSocket, WebSocketException

from engines.base import EngineError

PIECE = 16_384
Receive = Callable[[int, bytes], bytes]


def leave(websocket: WebSocket) -> None:
    """Say good-bye and close, whether or not the server still listens."""
    with suppress(WebSocketException, OSError):
        websocket.close(timeout=1)
    websocket.shutdown()  # type: ignore[no-untyped-call]  # the package leaves it so


class Bridge:
    """``stream`` is our end. What is written there goes out on ``channel``; of what comes in,
    ``receive`` says which bytes are to be read there. It ends when the server or we close; with
    ``half_closes`` it still brings the answer to who only says that nothing more will be sent,
    which the protocol cannot pass on."""

    def __init__(
        self, websocket: WebSocket, *, channel: int, receive: Receive, half_closes: bool = False
    ) -> None:
        self._websocket, self._channel, self._receive = websocket, bytes([channel]), receive
        self._half_closes, self._all_sent = half_closes, False
        self.stream, self._inner = socket.socketpair()
        self._asked, self._orders = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.trouble = ""
        self._thread = threading.Thread(target=self._carry, daemon=True, name="websocket bridge")

    def start(self) -> None:
        self._thread.start()

    def send(self, channel: int, data: bytes) -> None:
        """A whole message on another channel."""
        with suppress(OSError):  # over, or more orders than anyone could want
            self._asked.send(bytes([channel]) + data, socket.MSG_DONTWAIT)

    def close(self) -> None:
        with suppress(OSError):
            self.stream.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)
        self.stream.close()

    def _carry(self) -> None:
        with self._inner, self._orders, self._asked:
            try:
                while self._turn():
                    pass
            except (WebSocketException, OSError, EngineError) as error:
                self.trouble = f"The connection to the cluster was cut: {error}."
            finally:
                leave(self._websocket)

    def _turn(self) -> bool:
        if self._has_more():
            return self._take()
        wire = self._websocket.sock
        if wire is None:
            return False
        ready = self._wait(wire)
        if self._orders.fileno() in ready:
            self._websocket.send_binary(self._orders.recv(PIECE))
        if (events := ready.get(self._inner.fileno())) and not self._give(events):
            return False
        return self._take() if wire.fileno() in ready else True

    def _wait(self, wire: socket.socket) -> dict[int, int]:
        """By number of a socket what there is of it; that our side has gone is always told."""
        poll = select.poll()
        poll.register(wire, select.POLLIN)
        poll.register(self._orders, select.POLLIN)
        poll.register(self._inner, 0 if self._all_sent else select.POLLIN)
        return dict(poll.poll())

    def _give(self, events: int) -> bool:
        """Pass on what we wrote; whether that goes on."""
        data = b"" if self._all_sent else self._inner.recv(PIECE)
        if data:
            self._websocket.send_binary(self._channel + data)
            return True
        self._all_sent = True
        return self._half_closes and not events & select.POLLHUP

    def _has_more(self) -> bool:
        """Bytes that TLS has read from the wire already do not make the socket readable again."""
        wire = self._websocket.sock
        return isinstance(wire, ssl.SSLSocket) and wire.pending() > 0

    def _take(self) -> bool:
        code, frame = self._websocket.recv_data_frame(True)
        if code == ABNF.OPCODE_CLOSE:
            return False
        if code in {ABNF.OPCODE_BINARY, ABNF.OPCODE_TEXT} and frame.data:
            shown = self._receive(frame.data[0], frame.data[1:])
            try:
                self._inner.sendall(shown)
            except OSError:
                return False  # our side has closed
        return True
