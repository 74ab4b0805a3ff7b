"""The bridge between a websocket of the API server and a socket of ours."""

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import pytest
from websocket import ABNF

from engines.kubernetes.client.websocket import Bridge
from tests.waiting import wait_for

PATIENCE = 10.0


@dataclass
class Frame:
    data: bytes


class ServerEnd:
    """What the bridge sees of a websocket; ``server`` is the other end of its wire, where each
    piece that is written is one message."""

    def __init__(self) -> None:
        self.sock, self.server = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.server.settimeout(PATIENCE)

    def send_binary(self, data: bytes) -> None:
        self.sock.send(data)

    def recv_data_frame(self, _: bool) -> tuple[int, Frame]:
        data = self.sock.recv(65_536)
        return (ABNF.OPCODE_BINARY if data else ABNF.OPCODE_CLOSE), Frame(data)

    def close(self, timeout: float) -> None:
        """Nothing to say good-bye to."""

    def shutdown(self) -> None:
        self.sock.close()


@pytest.fixture
def end() -> Iterator[ServerEnd]:
    end = ServerEnd()
    yield end
    end.server.close()


def bridge(end: ServerEnd, **more: Any) -> Bridge:
    made = Bridge(cast(Any, end), channel=0, receive=lambda _, data: data, **more)
    made.stream.settimeout(PATIENCE)
    made.start()
    return made


def test_a_client_that_sends_no_more_still_gets_the_answer(end: ServerEnd) -> None:
    made = bridge(end, half_closes=True)
    made.stream.sendall(b"question")
    made.stream.shutdown(socket.SHUT_WR)
    assert end.server.recv(100) == b"\0question"
    end.server.send(b"\0answer")
    end.server.send(b"\0, whole")
    end.server.shutdown(socket.SHUT_WR)
    answer = b"".join(iter(lambda: made.stream.recv(100), b""))
    assert answer == b"answer, whole"
    made.close()


@pytest.mark.parametrize("half_closes", [False, True])
@pytest.mark.parametrize("says_so_first", [False, True])
def test_a_bridge_ends_when_our_side_has_gone(
    end: ServerEnd, half_closes: bool, says_so_first: bool
) -> None:
    made = bridge(end, half_closes=half_closes)
    if says_so_first:
        made.stream.shutdown(socket.SHUT_WR)
    made.stream.close()
    assert end.server.recv(100) == b"", "the connection to the server is closed"
    wait_for(lambda: not made._thread.is_alive(), PATIENCE)


def test_without_it_the_end_of_what_we_send_is_the_end(end: ServerEnd) -> None:
    made = bridge(end)
    made.stream.shutdown(socket.SHUT_WR)
    assert made.stream.recv(100) == b""
    made.close()
