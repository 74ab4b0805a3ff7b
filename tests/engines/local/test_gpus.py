"""The local engine on real GPUs. Without one there is nothing to show."""

import json
import shutil
import subprocess
from dataclasses import replace

import pynvml
import pytest
import torch

from engines.base import Launch, UsageSample
from engines.local.system import gauge, nvidia, processes
from spec.kind import WorkloadKind
from spec.parts.compute import Compute, GpuRequestType
from spec.phases import Phase
from spec.workload import Replica
from tests.engines.local.conftest import LocalRig
from tests.waiting import wait_for

MIB = 1024**2
TOOL = shutil.which("nvidia-smi") or "nvidia-smi"
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no GPU here"),
]
SEEN = """
import json, torch
seen = [torch.cuda.get_device_properties(it) for it in range(torch.cuda.device_count())]
print(json.dumps([str(it.uuid) for it in seen]))
"""
#: Holds %d MiB beside what CUDA itself takes, and multiplies until it is stopped.
BUSY = """
import torch
held = torch.ones(%d, 1024, 1024, dtype=torch.uint8, device="cuda")
factor = torch.rand(4096, 4096, device="cuda")
while True:
    product = factor @ factor
    torch.cuda.synchronize()
"""


def alone(rig: LocalRig, program: str, *devices: int, portion: float = 1.0) -> Launch:
    """A single rank that runs a Python program on these devices, or on a part of one."""
    part = {"gpu_request_type": GpuRequestType.PORTION, "gpu_portion_request": portion}
    fields = part if portion < 1 else {}
    command = rig.python(program).spec.worker.command
    compute = Compute(gpu_devices_request=len(devices), **fields)
    worker = Replica(image="some/image", command=command, compute=compute)
    launched = rig.python(program, kind=WorkloadKind.TRAINING, distributed_framework=None)
    spec = launched.spec.model_copy(update={"worker": worker})
    return replace(launched, spec=spec, gpus={0: devices})


def samples(rig: LocalRig, launched: Launch) -> list[UsageSample]:
    return rig.engine.usage(launched.handle, run=1, after=None)


def busy(rig: LocalRig, launched: Launch, mib: int) -> UsageSample:
    """Wait for a sample of a rank that works, and holds at least this much."""

    def measured() -> list[UsageSample]:
        return [it for it in samples(rig, launched) if it.gpu and (it.gpu_memory or 0) > mib * MIB]

    return wait_for(measured, 60, "a sample of a busy GPU")[-1]


def on_the_gpu() -> set[int]:
    with nvidia.open_driver() as nvml:
        return set(nvidia.read_gpu(nvml, 0).process_memory or ())


def test_gpus_are_those_that_nvidias_tool_lists() -> None:
    query = ["--query-gpu=index,name,memory.total", "--format=csv,noheader,nounits"]
    listed = subprocess.run([TOOL, *query], capture_output=True, text=True, check=True)
    lines = [f"{gpu.index}, {gpu.model}, {gpu.memory // MIB}" for gpu in nvidia.devices().gpus]
    assert lines == listed.stdout.splitlines()


def test_a_rank_sees_its_devices_alone(rig: LocalRig) -> None:
    for gpu in nvidia.devices().gpus:
        launched = rig.submit(alone(rig, SEEN, gpu.index))
        assert rig.over(launched).phase is Phase.COMPLETED, rig.log(launched)
        with nvidia.open_driver() as nvml:
            uuid = nvml.nvmlDeviceGetUUID(nvml.nvmlDeviceGetHandleByIndex(gpu.index))
        assert [f"GPU-{it}" for it in json.loads(rig.log(launched))] == [uuid]


def test_a_rank_without_a_gpu_sees_none(rig: LocalRig) -> None:
    launched = rig.submit(alone(rig, SEEN))
    assert rig.over(launched).phase is Phase.COMPLETED, rig.log(launched)
    assert json.loads(rig.log(launched)) == []
    assert {(it.gpu, it.gpu_memory) for it in samples(rig, launched)} <= {(None, None)}


def test_the_use_of_a_gpu_is_measured_and_a_stop_frees_it(rig: LocalRig) -> None:
    launched = rig.submit(alone(rig, BUSY % 2048, 0))
    sample = busy(rig, launched, 2048)
    assert 0 < (sample.gpu or 0) <= 100
    assert 2048 * MIB < (sample.gpu_memory or 0) < nvidia.devices().gpus[0].memory
    own = {it.pid for it in processes.find_processes(rig.folder(launched).path)}
    assert own & on_the_gpu() or not gauge.sees_driver_pids()
    rig.engine.stop(launched.handle, run=1)
    assert rig.over(launched).phase is Phase.STOPPED
    wait_for(lambda: not own & on_the_gpu(), 15, "the memory to be free")


def test_parts_of_a_gpu_are_measured_apart(rig: LocalRig) -> None:
    small = rig.submit(alone(rig, BUSY % 1024, 0, portion=0.5))
    large = rig.submit(alone(rig, BUSY % 4096, 0, portion=0.5))
    if not gauge.sees_driver_pids():
        wait_for(lambda: len(samples(rig, large)) > 1, 60, "samples")
        assert {(it.gpu, it.gpu_memory) for it in samples(rig, large)} == {(None, None)}
        pytest.skip("processes have other numbers here than the driver gives them")
    held = busy(rig, small, 1024).gpu_memory, busy(rig, large, 4096).gpu_memory
    assert 1024 * MIB < (held[0] or 0) < 4096 * MIB < (held[1] or 0)
    with nvidia.open_driver() as nvml:
        assert pynvml.nvmlDeviceGetCount() >= 1
        whole = nvidia.read_gpu(nvml, 0).memory or 0
    assert sum(it or 0 for it in held) <= whole
