"""Connections to ports of real pods."""

import http.client
import socket

import pytest

from engines.base import EngineRefused, Launch
from spec.phases import Phase
from tests.engines.kubernetes.conftest import KubernetesRig
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes

SERVE = "mkdir /tmp/w; head -c 3000000 /dev/zero > /tmp/w/big; exec httpd -f -p 8080 -h /tmp/w"


@pytest.fixture
def served(rig: KubernetesRig) -> Launch:
    launched = rig.submit(rig.shell(SERVE))
    rig.seen(launched, Phase.RUNNING)
    return launched


def ask(connection: socket.socket, path: str) -> tuple[int, int]:
    """Status and length of an answer; status 0 where nobody answered."""
    connection.settimeout(20)
    client = http.client.HTTPConnection("pod")
    client.sock = connection
    try:
        client.request("GET", path)
        answer = client.getresponse()
        return answer.status, len(answer.read())
    except (http.client.HTTPException, OSError):
        return 0, 0
    finally:
        client.close()
        connection.close()


def test_a_port_of_a_pod_answers(rig: KubernetesRig, served: Launch) -> None:
    def status(path: str, rank: int = 1) -> tuple[int, int]:
        return ask(rig.engine.dial(served.handle, rank=rank, port=8080), path)

    wait_for(lambda: status("/big")[0], 20, "the server to listen", every=0.2)
    assert status("/big") == (200, 3_000_000)
    assert status("/none", rank=0)[0] == 404


def test_a_port_forward_to_where_nothing_listens_ends_at_once(
    rig: KubernetesRig, served: Launch
) -> None:
    assert ask(rig.engine.dial(served.handle, rank=0, port=8081), "/") == (0, 0)


def test_a_rank_that_is_not_there_is_refused(rig: KubernetesRig) -> None:
    with pytest.raises(EngineRefused):
        rig.engine.dial(rig.endless().handle, rank=0, port=8080)
