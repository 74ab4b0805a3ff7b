"""What this machine has."""

from pathlib import Path

import pynvml
import pytest

from engines.local import engine
from engines.local.engine import LocalEngine
from engines.local.system import machine, nvidia
from engines.local.system.nvidia import Devices
from tests.engines.local.system.driver import FakeDevice, FakeDriver


def test_virtual_gpus_of_this_machine_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia, "devices", Devices)
    node, findings = machine.look(4)
    assert len(node.gpus) == 4
    assert all(gpu.virtual for gpu in node.gpus)
    assert findings == ()
    assert machine.look(0)[0].gpus == ()


def test_a_driver_that_fails_makes_no_gpu_virtual(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    driver = FakeDriver(FakeDevice()).install(monkeypatch)
    driver.error = pynvml.NVML_ERROR_UNKNOWN
    ours = LocalEngine(tmp_path, images={}, virtual_gpus=4)
    (node,) = ours.nodes()
    assert node.gpus == ()
    assert [finding.name for finding in ours.check()] == ["NVIDIA driver"]


def test_a_driver_that_comes_up_later_is_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    driver = FakeDriver(FakeDevice()).install(monkeypatch)
    driver.error = pynvml.NVML_ERROR_UNKNOWN
    monkeypatch.setattr(engine, "FRESH", 0.0)
    monkeypatch.setattr(engine, "SPARING", 0)
    ours = LocalEngine(tmp_path, images={}, virtual_gpus=4)
    assert ours.nodes()[0].gpus == ()
    driver.error = None
    assert [gpu.model for gpu in ours.nodes()[0].gpus] == ["NVIDIA H100 80GB HBM3"]
    assert ours.check() == ()
