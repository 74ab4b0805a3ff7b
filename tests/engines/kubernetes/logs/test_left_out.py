"""Whatever a node leaves out of a log that it rotates, a line says so. No cluster."""

import random

import pytest

from engines.kubernetes.logs.reader import ROTATED
from tests.engines.kubernetes.logs.kubelets import Collector, Kubelet

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


def collected(kubelet: Kubelet) -> bytes:
    collector = Collector(kubelet)
    while kubelet.now < SECONDS:
        kubelet.step()
        collector.step()
    kubelet.end()
    return collector.end()


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_output_that_a_busy_node_leaves_out_is_told_wherever_it_was(seed: int, old: bool) -> None:
    chance = random.Random(seed)  # noqa: S311 -- no secret
    kubelet = Kubelet(chance, old=old, busy=0.2)
    assert untold(collected(kubelet), kubelet.written) == []


def test_output_of_a_node_that_keeps_up_comes_without_a_notice() -> None:
    kubelet = Kubelet(random.Random(1), old=False, busy=0)  # noqa: S311 -- no secret
    kubelet.longest = 1.0
    text = collected(kubelet)
    assert kubelet.before, "it rotated the log"
    assert text == b"".join(b"%d\n" % number for number in range(kubelet.written))
