"""Present a websocket of the API server as a plain socket.

The first byte of each message is its channel: the protocol ``v4.channel.k8s.io``, which servers
have spoken since long before 1.20. A single thread uses the websocket, because two threads must not
read and write a TLS connection at the same time.
"""

import select
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress

from websocket import ABNF, WebSocket, WebSocketException

from engines.base import EngineError

PIECE_BYTES = 16_384
Receive = Callable[[int, bytes], bytes]


def close_websocket(websocket: WebSocket) -> None:
    """Close the websocket politely, whether or not the server still listens."""
    with suppress(WebSocketException, OSError):
        websocket.close(timeout=1)
    websocket.shutdown()  # type: ignore[no-untyped-call]  # the package has no types


class Bridge:
    """Copies data between a websocket and ``stream``, our end of a socket pair.

    What is written to ``stream`` is sent on ``channel``. ``receive`` gets each message with its
    channel and returns the bytes to deliver. The bridge ends when either side closes. With
    ``half_closes`` it still delivers the answer after we shut down our sending side, which the
    protocol cannot pass on.
    """

    def __init__(
        self, websocket: WebSocket, *, channel: int, receive: Receive, half_closes: bool = False
    ) -> None:
        self._websocket = websocket
        self._channel = bytes([channel])
        self._receive = receive
        self._half_closes = half_closes
        self._is_input_closed = False
        self.stream, self._inner = socket.socketpair()
        self._queue_in, self._queue_out = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.trouble = ""
        self._thread = threading.Thread(target=self._run, daemon=True, name="websocket bridge")

    def start(self) -> None:
        self._thread.start()

    def send(self, channel: int, data: bytes) -> None:
        """Send a message on another channel."""
        with suppress(OSError):  # closed, or the queue is full
            self._queue_in.send(bytes([channel]) + data, socket.MSG_DONTWAIT)

    def close(self) -> None:
        with suppress(OSError):
            self.stream.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)
        self.stream.close()

    def _run(self) -> None:
        with self._inner, self._queue_out, self._queue_in:
            try:
                while self._step():
                    pass
            except (WebSocketException, OSError, EngineError) as error:
                self.trouble = f"The connection to the cluster was cut: {error}."
            finally:
                close_websocket(self._websocket)

    def _step(self) -> bool:
        if self._has_buffered_data():
            return self._receive_message()
        wire = self._websocket.sock
        if wire is None:
            return False
        ready = self._wait(wire)
        if self._queue_out.fileno() in ready:
            self._websocket.send_binary(self._queue_out.recv(PIECE_BYTES))
        if (events := ready.get(self._inner.fileno())) and not self._send_input(events):
            return False
        return self._receive_message() if wire.fileno() in ready else True

    def _wait(self, wire: socket.socket) -> dict[int, int]:
        """Wait for events; by file descriptor. A hang-up of our side is always reported."""
        poll = select.poll()
        poll.register(wire, select.POLLIN)
        poll.register(self._queue_out, select.POLLIN)
        poll.register(self._inner, 0 if self._is_input_closed else select.POLLIN)
        return dict(poll.poll())

    def _send_input(self, events: int) -> bool:
        """Send what was written to ``stream``. ``False`` when the bridge should end."""
        data = b"" if self._is_input_closed else self._inner.recv(PIECE_BYTES)
        if data:
            self._websocket.send_binary(self._channel + data)
            return True
        self._is_input_closed = True
        return self._half_closes and not events & select.POLLHUP

    def _has_buffered_data(self) -> bool:
        """Whether TLS has buffered bytes, which ``poll`` does not report."""
        wire = self._websocket.sock
        return isinstance(wire, ssl.SSLSocket) and wire.pending() > 0

    def _receive_message(self) -> bool:
        code, frame = self._websocket.recv_data_frame(True)
        if code == ABNF.OPCODE_CLOSE:
            return False
        if code in {ABNF.OPCODE_BINARY, ABNF.OPCODE_TEXT} and frame.data:
            shown = self._receive(frame.data[0], frame.data[1:])
            try:
                self._inner.sendall(shown)
            except OSError:
                return False  # our side was closed
        return True
