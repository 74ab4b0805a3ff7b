"""NVIDIA's GPUs, as their driver describes them through its library, NVML."""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import psutil

from engines.findings import Finding, Level
from engines.nodes import Gpu

logger = logging.getLogger(__name__)

AREA = "GPUs"  # of findings
PATIENCE = 20.0  # seconds for an answer: a driver in trouble may not give one for minutes
LATELY = 2.0  # seconds of which the driver is asked what processes did
PCI = Path("/sys/bus/pci/devices")
VENDOR = "0x10de"
IN_MIG_MODE = (
    "It is in MIG mode, of which this machine makes no use. Turn MIG off (nvidia-smi -i {} -mig 0)."
)
REPAIR = "Check that nvidia-smi works on this machine."


class DriverError(Exception):
    """The driver does not answer. The message has its own words."""


class NoDriver(DriverError):
    """There is no driver on this machine, or nothing for it to drive."""


@dataclass(frozen=True)
class Devices:
    """The GPUs that can be used, and what is wrong with the others or with their driver.
    ``uuids`` are by their numbers."""

    gpus: tuple[Gpu, ...] = ()
    findings: tuple[Finding, ...] = ()
    uuids: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class GpuReading:
    """What a device does: ``utilization`` in percent, ``memory`` in use in bytes, and both of each
    process by its number: ``shares``, and ``held``. ``None`` is what the driver does not tell, or
    was not asked; a process without a share did nothing."""

    utilization: float | None = None
    memory: int | None = None
    shares: Mapping[int, float] | None = None
    held: Mapping[int, int | None] | None = None


@contextmanager
def driver() -> Iterator[Any]:
    """The library, ready to be asked while the block runs. Raises ``DriverError``."""
    import pynvml  # large, and only needed where there are GPUs

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        missing = error.value == pynvml.NVML_ERROR_LIBRARY_NOT_FOUND
        idle = error.value == pynvml.NVML_ERROR_DRIVER_NOT_LOADED and not has_card()
        raise (NoDriver if missing or idle else DriverError)(str(error)) from error
    try:
        yield pynvml
    except pynvml.NVMLError as error:
        raise DriverError(str(error)) from error
    finally:
        with suppress(pynvml.NVMLError):
            pynvml.nvmlShutdown()


def has_card() -> bool:
    """Whether a device of NVIDIA is plugged in, with or without a driver."""
    for vendor in PCI.glob("*/vendor"):
        with suppress(OSError):
            if vendor.read_text().strip() == VENDOR:
                return True
    return False


class _Question(Thread):
    """Asks the driver for all devices, in a thread of its own: nothing else can leave a driver that
    does not answer."""

    def __init__(self) -> None:
        super().__init__(name="GPUs", daemon=True)
        self.answer: Devices | None = None
        self._deadline = time.monotonic() + PATIENCE

    def run(self) -> None:
        try:
            self.answer = _devices()
        except Exception as error:
            logger.exception("The GPUs of this machine cannot be listed")
            self.answer = _failed(f"The driver cannot be asked: {type(error).__name__}: {error}")

    def wait(self) -> Devices:
        """The answer, unless it takes longer than ``PATIENCE`` from the question."""
        self.join(max(0.0, self._deadline - time.monotonic()))
        late = f"The driver does not answer: no answer within {PATIENCE:.0f} seconds"
        return self.answer or _failed(late)


_asking = Lock()
_asked: list[_Question] = []  # the last one


def devices() -> Devices:
    """All devices of this machine. None where there is no driver; a finding where it fails.

    While the driver owes an answer, it is not asked again: each question would hold a thread.
    """
    with _asking:
        if not (_asked and _asked[-1].is_alive()):
            question = _Question()
            try:
                question.start()
            except RuntimeError as error:  # at a limit of processes
                return _failed(f"The driver cannot be asked: {error}")
            _asked[:] = [question]
        question = _asked[-1]
    return question.wait()


def _devices() -> Devices:
    try:
        with driver() as nvml:
            answered = [_device(nvml, index) for index in range(nvml.nvmlDeviceGetCount())]
            uuids = _uuids(nvml, [it.index for it in answered if isinstance(it, Gpu)])
    except NoDriver:
        return Devices()
    except DriverError as error:
        return _failed(f"The driver does not answer: {error}")
    if not answered and has_card():
        return _failed("The driver finds no device, though a card of NVIDIA is plugged in")
    return Devices(
        tuple(it for it in answered if isinstance(it, Gpu)),
        tuple(it for it in answered if isinstance(it, Finding)),
        uuids,
    )


def _uuids(nvml: Any, indices: Iterable[int]) -> dict[int, str]:
    uuids = {}
    for index in indices:
        with suppress(nvml.NVMLError):  # lost since a moment ago
            uuids[index] = nvml.nvmlDeviceGetUUID(nvml.nvmlDeviceGetHandleByIndex(index))
    return uuids


def names(indices: Collection[int]) -> dict[int, str]:
    """What CUDA calls these devices: their numbers, which some programs expect.

    Where a device is lost or in MIG mode, it may count the others differently from the driver:
    their UUIDs then.
    """
    present = devices() if indices else Devices()
    safe = present.uuids if present.findings else {}
    return {index: safe.get(index, str(index)) for index in indices}


def _failed(said: str) -> Devices:
    return Devices(
        findings=(Finding(AREA, "NVIDIA driver", Level.ISSUE, f"{said}. {REPAIR}"),),
    )


def _device(nvml: Any, index: int) -> Gpu | Finding:
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        if any(_told(nvml, nvml.nvmlDeviceGetMigMode, handle) or ()):
            text = IN_MIG_MODE.format(index)
            return Finding(AREA, f"GPU {index}", Level.WARNING, text)
        memory = _told(nvml, nvml.nvmlDeviceGetMemoryInfo, handle)
        # One without memory of its own shares the machine's.
        size = memory.total if memory else psutil.virtual_memory().total
        return Gpu(index, nvml.nvmlDeviceGetName(handle), size)
    except nvml.NVMLError as error:
        return Finding(AREA, f"GPU {index}", Level.ISSUE, f"It cannot be used: {error}. {REPAIR}")


def read(nvml: Any, index: int, *, shares: bool = True) -> GpuReading:
    """What a device does now. ``DriverError`` if it cannot be reached; what the driver refuses to
    tell otherwise is left out.

    Without ``shares`` it is not asked for those of processes: they take some 2 ms of processor
    time, all else together less than 0.1.
    """
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        rates = _measured(nvml, nvml.nvmlDeviceGetUtilizationRates, handle)
        memory = _memory(nvml, handle)
        users = _measured(nvml, nvml.nvmlDeviceGetComputeRunningProcesses, handle)
        parts = _shares(nvml, handle) if shares else None
    except nvml.NVMLError as error:
        raise DriverError(str(error)) from error
    return GpuReading(
        float(rates.gpu) if rates else None,
        memory.used if memory else None,
        parts,
        None if users is None else {user.pid: user.usedGpuMemory for user in users},
    )


def _memory(nvml: Any, handle: Any) -> Any:
    """Older drivers have the first version alone, which counts what is reserved as used."""
    ask = nvml.nvmlDeviceGetMemoryInfo
    return _measured(nvml, ask, handle, nvml.nvmlMemory_v2) or _measured(nvml, ask, handle)


def _shares(nvml: Any, handle: Any) -> dict[int, float] | None:
    """The part of the device's time that each process had lately, in percent."""
    since = int((time.time() - LATELY) * 1e6)

    def ask() -> Any:
        try:
            return nvml.nvmlDeviceGetProcessUtilization(handle, since)
        except nvml.NVMLError as error:
            if error.value in (nvml.NVML_SUCCESS, nvml.NVML_ERROR_NOT_FOUND):
                return ()  # nobody did anything
            raise

    samples = _measured(nvml, ask)
    # Of several samples of a process the newest counts.
    newest = sorted(samples or (), key=lambda sample: sample.timeStamp)
    return None if samples is None else {it.pid: float(it.smUtil) for it in newest}


def _measured(nvml: Any, ask: Callable[..., Any], *about: Any) -> Any:
    """What the driver answers; ``None`` for any refusal but that of a device that is gone."""
    try:
        return _told(nvml, ask, *about)
    except nvml.NVMLError as error:
        if error.value in (nvml.NVML_ERROR_GPU_IS_LOST, nvml.NVML_ERROR_UNINITIALIZED):
            raise
        return None


def _told(nvml: Any, ask: Callable[..., Any], *about: Any) -> Any:
    """What the driver answers; ``None`` if this device or this driver cannot tell."""
    untold = (nvml.NVML_ERROR_NOT_SUPPORTED, nvml.NVML_ERROR_FUNCTION_NOT_FOUND)
    try:
        return ask(*about)
    except nvml.NVMLLibraryMismatchError:  # the driver is years older than the library
        return None
    except nvml.NVMLError as error:
        if error.value in untold:
            return None
        raise
