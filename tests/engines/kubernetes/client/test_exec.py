"""Terminals in real pods."""

import pytest

from engines.kubernetes.client.api import NotFound
from tests.engines.kubernetes.conftest import KubernetesRig
from tests.engines.terminal import TerminalContract

pytestmark = pytest.mark.kubernetes


class TestTerminal(TerminalContract):
    pass


def test_a_refusal_comes_with_the_servers_words(rig: KubernetesRig) -> None:
    path = "/api/v1/namespaces/default/pods/no-such-pod/exec"
    with pytest.raises(NotFound, match=r"no-such-pod.* not found"):
        rig.api.websocket(path, [("command", "true"), ("stdout", "true")])
