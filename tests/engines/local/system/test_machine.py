"""What this machine has."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pynvml
import pytest

from engines.findings import Level
from engines.local.engine import LocalEngine
from engines.local.system import machine, nvidia
from engines.local.system.machine import Machine, State
from engines.local.system.nvidia import Devices
from engines.nodes import NodeInfo
from tests.engines.local.system.driver import FakeDevice, FakeDriver


def test_virtual_gpus_of_this_machine_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia, "devices", Devices)
    node, findings = machine.inspect_machine(4)
    assert len(node.gpus) == 4
    assert all(gpu.virtual for gpu in node.gpus)
    assert findings == ()
    assert machine.inspect_machine(0)[0].gpus == ()


def names_of_trouble(engine: LocalEngine) -> list[str]:
    return [finding.name for finding in engine.check() if finding.level is not Level.OK]


def test_a_driver_that_fails_makes_no_gpu_virtual(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    driver = FakeDriver(FakeDevice()).install(monkeypatch)
    driver.error = pynvml.NVML_ERROR_UNKNOWN
    ours = LocalEngine(tmp_path, images={}, virtual_gpus=4)
    (node,) = ours.nodes()
    assert node.gpus == ()
    assert names_of_trouble(ours) == ["NVIDIA driver"]


def test_a_driver_that_comes_up_later_is_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    driver = FakeDriver(FakeDevice()).install(monkeypatch)
    driver.error = pynvml.NVML_ERROR_UNKNOWN
    monkeypatch.setattr(machine, "FRESH", 0.0)
    monkeypatch.setattr(machine, "SPARING", 0)
    ours = LocalEngine(tmp_path, images={}, virtual_gpus=4)
    assert ours.nodes()[0].gpus == ()
    driver.error = None
    assert [gpu.model for gpu in ours.nodes()[0].gpus] == ["NVIDIA H100 80GB HBM3"]
    assert names_of_trouble(ours) == []


def node(name: str) -> State:
    return NodeInfo(name, 1.0, 1, ()), ()


class Looks:
    """Takes the place of ``look``: each lasts ``seconds`` of a clock of its own, or until
    ``answers`` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: float = 0.0) -> None:
        self.now = 100.0
        self.seconds = seconds
        self.count = 0
        self.begun = threading.Semaphore(0)
        self.answers = threading.Event()
        self.answers.set()
        monkeypatch.setattr(machine, "inspect_machine", self.look)
        monkeypatch.setattr(machine, "time", SimpleNamespace(monotonic=lambda: self.now))

    def look(self, virtual_gpus: int) -> State:
        self.count += 1
        seen = node(f"seen {self.count}")
        self.begun.release()
        assert self.answers.wait(30)
        self.now += self.seconds
        return seen


@pytest.mark.parametrize(("seconds", "holds"), [(0.0, 5.0), (0.2, 10.0), (20.0, 60.0)])
def test_the_machine_is_looked_at_again_within_a_minute(
    monkeypatch: pytest.MonkeyPatch, seconds: float, holds: float
) -> None:
    looks = Looks(monkeypatch, seconds)
    ours = Machine(4)
    assert ours.state() == node("seen 1")
    looks.now += holds - 0.01
    assert ours.state() == node("seen 1")
    looks.now += 0.02
    assert ours.state() == node("seen 2")


def test_a_single_caller_looks_while_others_get_the_last_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = Looks(monkeypatch)
    ours = Machine(4)
    assert ours.state() == node("seen 1")
    assert looks.begun.acquire(timeout=10)
    looks.now += 100
    looks.answers.clear()
    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(ours.state)
        assert looks.begun.acquire(timeout=10)
        try:
            assert ours.state() == node("seen 1")
            assert looks.count == 2
        finally:
            looks.answers.set()
        assert looking.result(10) == node("seen 2")


def test_first_callers_wait_for_one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = Looks(monkeypatch)
    ours = Machine(4)
    looks.answers.clear()
    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(ours.state) for _ in range(3)]
        assert looks.begun.acquire(timeout=10)
        looks.answers.set()
        assert [it.result(10) for it in waiting] == [node("seen 1")] * 3
    assert looks.count == 1
