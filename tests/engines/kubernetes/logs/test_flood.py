"""A program writes faster than a node keeps: missing output is reported. A real node."""

import re
from pathlib import Path

import pytest
from pytest_django import Settings

from engines.base import EngineError
from spec.workload import Architecture
from tests.engines.kubernetes.conftest import KubernetesRig
from tests.engines.kubernetes.keeping import Keeper
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes
LINES = 600_000
#: No file is full in the first 5 seconds: one that a node rotates away so early has no line.
FLOOD = """
awk 'BEGIN { for (i = 0; i < 600000; i++) {
  printf "line %07d of a program that writes more than its node keeps\\n", i
  if (i % 50000 == 49999) { fflush(); system(i < 50000 ? "sleep 5" : "sleep 1") }
} }'
"""
SAID = re.compile(rb"\[Trainyard\] Output may be missing here: ")
NUMBER = re.compile(rb"line (\d{7}) of ")


@pytest.fixture(autouse=True)
def store(tmp_path: Path, settings: Settings) -> None:
    settings.LOG_STORE = tmp_path


def untold(text: bytes) -> list[tuple[int, int]]:
    """Where numbers are missing without a word."""
    gaps = []
    expected = 0
    is_told = False
    for line in text.splitlines():
        if match := NUMBER.match(line):
            number = int(match[1])
            if number != expected and not is_told:
                gaps.append((expected, number))
            expected = number + 1
            is_told = False
        elif SAID.match(line):
            is_told = True
    return gaps if expected == LINES or is_told else [*gaps, (expected, LINES)]


@pytest.mark.parametrize("is_late", [False, True])
def test_output_that_a_node_rotated_away_is_told_wherever_it_was(
    rig: KubernetesRig, is_late: bool
) -> None:
    """Read from the start, and by somebody who comes when the first file is gone."""
    fields = {"architecture": Architecture.WORKERS_ONLY, "num_workers": 1}
    launched = rig.submit(rig.shell(FLOOD, **fields))
    if is_late:
        wait_for(lambda: is_rotated(rig), 90, "the node to rotate the log", every=0.5)
    keeper = Keeper(rig, launched)
    keeper.until(lambda: len(keeper.ended) == 1, timeout=180)
    (text,) = keeper.texts().values()
    assert untold(text) == []  # also at the head, where a busy machine may keep the first one back
    assert SAID.match(text) or not is_late


def is_rotated(rig: KubernetesRig) -> bool:
    """Whether the node no longer has the first line."""
    for pod in rig.mine("/api/v1/pods"):
        if not any(one.get("started") for one in pod["status"].get("containerStatuses") or ()):
            return False
        meta = pod["metadata"]
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/log"
        try:
            with rig.api.follow(path, {"limitBytes": "40"}, silence=10) as answer:
                begins = b"".join(answer.stream(64))
        except EngineError:
            return False  # the node rotates it at this moment, or is busy
        return len(begins) == 40 and not begins.startswith(b"line 0000000 ")
    return False
