"""A fake of NVIDIA's driver. The library is the real one; only its functions that ask the driver
are replaced, because a machine without a GPU has none."""

import threading
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

GIB = 1024**3
FUNCTIONS = """nvmlInit nvmlShutdown nvmlDeviceGetCount nvmlDeviceGetHandleByIndex nvmlDeviceGetName
nvmlDeviceGetUUID nvmlDeviceGetMigMode nvmlDeviceGetMemoryInfo nvmlDeviceGetUtilizationRates
nvmlDeviceGetComputeRunningProcesses nvmlDeviceGetProcessUtilization""".split()


@dataclass
class FakeDevice:
    """A device: ``held`` are the bytes of each process, ``shares`` its percent of the time. An
    ``error`` is what the driver answers instead; ``None`` is what the device does not support."""

    name: str = "NVIDIA H100 80GB HBM3"
    total: int | None = 80 * GIB
    used: int = GIB
    busy: int | None = 50
    mig: int | None = 0
    held: dict[int, int | None] = field(default_factory=dict)
    shares: dict[int, int] | None = field(default_factory=dict)
    error: int | None = None


class FakeDriver:
    """The driver: ``error`` is its answer to the first question, ``hangs`` an event for which it
    waits before."""

    def __init__(self, *devices: FakeDevice) -> None:
        self.devices = list(devices)
        self.error: int | None = None
        self.hangs: threading.Event | None = None
        self.open = 0
        self.asked_for_shares: list[FakeDevice] = []

    def install(self, monkeypatch: pytest.MonkeyPatch) -> "FakeDriver":
        for name in FUNCTIONS:
            monkeypatch.setattr(pynvml, name, getattr(self, name))
        return self

    def nvmlInit(self) -> None:
        if self.hangs:
            self.hangs.wait(60)
        if self.error is not None:
            raise pynvml.NVMLError(self.error)
        self.open += 1

    def nvmlShutdown(self) -> None:
        self.open -= 1

    def nvmlDeviceGetCount(self) -> int:
        return len(self.devices)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> FakeDevice:
        assert self.open, "asked before the library was ready"
        device = self.devices[index]
        if device.error is not None:
            raise pynvml.NVMLError(device.error)
        return device

    def nvmlDeviceGetName(self, device: FakeDevice) -> str:
        return device.name

    def nvmlDeviceGetUUID(self, device: FakeDevice) -> str:
        return f"GPU-{next(i for i, it in enumerate(self.devices) if it is device)}"

    def nvmlDeviceGetMigMode(self, device: FakeDevice) -> list[int]:
        return [supported(device.mig), 0]

    def nvmlDeviceGetMemoryInfo(self, device: FakeDevice, version: int | None = None) -> Any:
        return SimpleNamespace(total=supported(device.total), used=device.used)

    def nvmlDeviceGetUtilizationRates(self, device: FakeDevice) -> Any:
        return SimpleNamespace(gpu=supported(device.busy))

    def nvmlDeviceGetComputeRunningProcesses(self, device: FakeDevice) -> list[Any]:
        return [SimpleNamespace(pid=pid, usedGpuMemory=held) for pid, held in device.held.items()]

    def nvmlDeviceGetProcessUtilization(self, device: FakeDevice, since: int) -> list[Any]:
        self.asked_for_shares.append(device)
        shares = supported(device.shares)
        if not shares:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return [
            SimpleNamespace(pid=pid, smUtil=share, timeStamp=since) for pid, share in shares.items()
        ]


def supported(value: Any) -> Any:
    if value is None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
    return value
