"""Whatever a node leaves out of a log that it rotates, a line says so. No cluster."""

import random
from threading import Condition, RLock
from typing import cast
from uuid import uuid4

import pytest

from engines.kubernetes.client.api import Api
from engines.kubernetes.jobs import PYTORCH
from engines.kubernetes.logs import follower, source
from engines.kubernetes.logs.follower import ROTATION_SECONDS, Follower
from engines.kubernetes.logs.reader import ROTATED
from engines.kubernetes.status.pod import PodView
from engines.logs import Log
from tests.engines.kubernetes.logs.kubelets import Kubelet
from tests.engines.kubernetes.logs.nodes import Nodes

SECONDS = 115


def untold(text: bytes, written: int) -> list[tuple[int, int]]:
    """Where numbers are missing without a word, or come twice."""
    wrong = []
    expected = 0
    is_told = False
    for row in text.splitlines(keepends=True):
        if row == ROTATED:
            is_told = True
        else:
            number = int(row)
            if number < expected or (number > expected and not is_told):
                wrong.append((expected, number))
            expected = number + 1
            is_told = False
    return wrong if expected == written or is_told else [*wrong, (expected, written)]


def collected(kubelet: Kubelet, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Read the whole log as a thread of a stream does, which begins at some time."""
    monkeypatch.setattr(follower, "ROTATION_SECONDS", ROTATION_SECONDS)
    monkeypatch.setattr(follower, "time", kubelet)
    monkeypatch.setattr(source, "CATCH_UP_SECONDS", 0.0)
    lock = Condition(RLock())
    log = Log(1, 0, 0, "up-0")
    reading = Follower(uuid4(), log, kubelet.pod, PYTORCH.container, lock, cursor="")
    text = b""

    def take() -> None:
        nonlocal text
        with lock:
            text += reading.take(10**9).data
            if kubelet.now > SECONDS and not kubelet.is_over:
                kubelet.end()
                reading.on_change(PodView(kubelet.pod, PYTORCH))

    while not reading.is_done:
        if reading.needs_stream:
            reading.serve(cast(Api, kubelet), take)
        kubelet.step()
        take()
    return text


def kubelet_of(seed: int, *, busy: float) -> Kubelet:
    nodes = Nodes()
    nodes.snapshot("up", 1)
    chance = random.Random(seed)  # noqa: S311 -- no secret
    return Kubelet(chance, nodes.pods["up-0"], busy=busy)


@pytest.mark.parametrize("seed", range(50))
def test_output_that_a_busy_node_leaves_out_is_told_wherever_it_was(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kubelet = kubelet_of(seed, busy=0.2)
    for _ in range(kubelet.chance.choice([0, 20, 250])):
        kubelet.step()
    text = collected(kubelet, monkeypatch)
    assert untold(text, kubelet.written) == []


def test_output_of_a_node_that_keeps_up_comes_without_a_notice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kubelet = kubelet_of(1, busy=0)
    kubelet.longest = 1.0
    text = collected(kubelet, monkeypatch)
    assert kubelet.rotations
    assert text == b"".join(b"%d\n" % number for number in range(kubelet.written))
