"""Ports of ranks on this machine, which all of its programs share."""

import socket

import pytest

from engines.base import EngineUnavailable
from spec.phases import Phase
from tests.engines.local.conftest import LocalRig
from tests.waiting import wait_for

SERVES = """
import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    print("port", server.getsockname()[1], flush=True)
    while True:
        server.accept()[0].sendall(b"from the rank")
"""


def test_a_port_is_reached_where_the_rank_itself_listens_and_nowhere_else(rig: LocalRig) -> None:
    launched = rig.submit(rig.python(SERVES))
    rig.seen(launched, Phase.RUNNING)
    wait_for(lambda: "port" in rig.log(launched))
    with rig.engine.dial(
        launched.handle, rank=0, port=int(rig.log(launched).split()[-1])
    ) as stream:
        assert stream.recv(100) == b"from the rank"
    with socket.create_server(("127.0.0.1", 0)) as foreign:
        port = foreign.getsockname()[1]
        with pytest.raises(EngineUnavailable, match=f"does not listen on port {port}"):
            rig.engine.dial(launched.handle, rank=0, port=port)
