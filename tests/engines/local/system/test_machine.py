"""What this machine has."""

import pytest

from engines.local.system import machine


def test_gpus_are_read_from_nvidias_tool() -> None:
    table = "0, NVIDIA H100 80GB HBM3, 81559\n1, GB10, [N/A]\n"
    [gpu] = machine.parse_gpus(table)
    assert (gpu.index, gpu.model, gpu.memory) == (0, "NVIDIA H100 80GB HBM3", 81559 * 1024**2)


def test_virtual_gpus_of_this_machine_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "real_gpus", tuple)
    node = machine.node(4)
    assert len(node.gpus) == 4
    assert all(gpu.virtual for gpu in node.gpus)
    assert machine.node(0).gpus == ()
