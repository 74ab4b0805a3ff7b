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
LATELY = 2.0  # seconds before now for which processes' shares are read
PCI = Path("/sys/bus/pci/devices")
VENDOR = "0x10de"
IN_MIG_MODE = (
    "It is in MIG mode, of which this machine makes no use. Turn MIG off (nvidia-smi -i {} -mig 0)."
)
REPAIR = "Check that nvidia-smi works on this machine."


class DriverError(Exception):
    """The driver does not answer. The message is the driver's own."""


class NoDriver(DriverError):
    """There is no driver on this machine, or nothing for it to drive."""


@dataclass(frozen=True)
class Devices:
    """The GPUs that can be used, and findings about the others or the driver.

    ``uuids`` maps the numbers of GPUs to their UUIDs.
    """

    gpus: tuple[Gpu, ...] = ()
    findings: tuple[Finding, ...] = ()
    uuids: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class GpuReading:
    """What a device does: ``utilization`` in percent, ``memory`` in use in bytes.

    ``process_shares`` and ``process_memory`` are the same for each process, by its pid. A value is
    ``None`` if the driver does not tell it or was not asked; a process without a share did nothing.
    """

    utilization: float | None = None
    memory: int | None = None
    process_shares: Mapping[int, float] | None = None
    process_memory: Mapping[int, int | None] | None = None


@contextmanager
def open_driver() -> Iterator[Any]:
    """Open the driver's library while the block runs. Raises ``DriverError``."""
    import pynvml  # here, because it is large and only needed where there are GPUs

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
    """Whether a device of NVIDIA is plugged in, even without a driver."""
    for vendor in PCI.glob("*/vendor"):
        with suppress(OSError):
            if vendor.read_text().strip() == VENDOR:
                return True
    return False


class _Query(Thread):
    """Asks the driver for all devices in a thread of its own, because a call to a driver that does
    not answer cannot be interrupted."""

    def __init__(self) -> None:
        super().__init__(name="GPUs", daemon=True)
        self.answer: Devices | None = None
        self._deadline = time.monotonic() + PATIENCE

    def run(self) -> None:
        try:
            self.answer = _query_devices()
        except Exception as error:
            logger.exception("The GPUs of this machine cannot be listed")
            self.answer = _driver_failure(
                f"The driver cannot be asked: {type(error).__name__}: {error}"
            )

    def wait(self) -> Devices:
        """Return the answer, or a finding if it takes longer than ``PATIENCE`` from the start."""
        self.join(max(0.0, self._deadline - time.monotonic()))
        if self.answer is not None:
            return self.answer
        return _driver_failure(
            f"The driver does not answer: no answer within {PATIENCE:.0f} seconds"
        )


_query_lock = Lock()
_latest_query: list[_Query] = []  # empty, or one


def devices() -> Devices:
    """Return all devices of this machine: none without a driver, and a finding if it fails."""
    with _query_lock:
        # A driver that has not answered yet is not asked again: each query would block a thread.
        if not (_latest_query and _latest_query[-1].is_alive()):
            query = _Query()
            try:
                query.start()
            except RuntimeError as error:  # at a limit of processes
                return _driver_failure(f"The driver cannot be asked: {error}")
            _latest_query[:] = [query]
        query = _latest_query[-1]
    return query.wait()


def _query_devices() -> Devices:
    try:
        with open_driver() as nvml:
            answers = [_inspect_device(nvml, index) for index in range(nvml.nvmlDeviceGetCount())]
            gpus = tuple(answer for answer in answers if isinstance(answer, Gpu))
            uuids = _uuids(nvml, [gpu.index for gpu in gpus])
    except NoDriver:
        return Devices()
    except DriverError as error:
        return _driver_failure(f"The driver does not answer: {error}")
    if not answers and has_card():
        return _driver_failure("The driver finds no device, though a card of NVIDIA is plugged in")
    findings = tuple(answer for answer in answers if isinstance(answer, Finding))
    return Devices(gpus, findings, uuids)


def _uuids(nvml: Any, indices: Iterable[int]) -> dict[int, str]:
    uuids = {}
    for index in indices:
        with suppress(nvml.NVMLError):  # the GPU was lost a moment ago
            uuids[index] = nvml.nvmlDeviceGetUUID(nvml.nvmlDeviceGetHandleByIndex(index))
    return uuids


def cuda_names(indices: Collection[int]) -> dict[int, str]:
    """Return the names that CUDA has for these devices: numbers, because some programs expect them.

    If a device is lost or in MIG mode, CUDA may count the others differently from the driver. Then
    the names are UUIDs.
    """
    machine = devices() if indices else Devices()
    uuids = machine.uuids if machine.findings else {}
    return {index: uuids.get(index, str(index)) for index in indices}


def _driver_failure(problem: str) -> Devices:
    finding = Finding(AREA, "NVIDIA driver", Level.ISSUE, f"{problem}. {REPAIR}")
    return Devices(findings=(finding,))


def _inspect_device(nvml: Any, index: int) -> Gpu | Finding:
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        if any(_answer(nvml, nvml.nvmlDeviceGetMigMode, handle) or ()):
            text = IN_MIG_MODE.format(index)
            return Finding(AREA, f"GPU {index}", Level.WARNING, text)
        memory = _answer(nvml, nvml.nvmlDeviceGetMemoryInfo, handle)
        # A GPU without memory of its own shares the machine's.
        size = memory.total if memory else psutil.virtual_memory().total
        return Gpu(index, nvml.nvmlDeviceGetName(handle), size)
    except nvml.NVMLError as error:
        return Finding(AREA, f"GPU {index}", Level.ISSUE, f"It cannot be used: {error}. {REPAIR}")


def read_gpu(nvml: Any, index: int, *, with_shares: bool = True) -> GpuReading:
    """Return what a device does now, without what the driver refuses to tell.

    The shares of processes are only read ``with_shares``: they take some 2 ms of processor time,
    and all the rest together less than 0.1 ms. Raises ``DriverError`` if the device cannot be
    reached.
    """
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        rates = _measurement(nvml, nvml.nvmlDeviceGetUtilizationRates, handle)
        memory = _memory_info(nvml, handle)
        users = _measurement(nvml, nvml.nvmlDeviceGetComputeRunningProcesses, handle)
        shares = _process_shares(nvml, handle) if with_shares else None
    except nvml.NVMLError as error:
        raise DriverError(str(error)) from error
    process_memory = None
    if users is not None:
        process_memory = {user.pid: user.usedGpuMemory for user in users}
    return GpuReading(
        utilization=float(rates.gpu) if rates else None,
        memory=memory.used if memory else None,
        process_shares=shares,
        process_memory=process_memory,
    )


def _memory_info(nvml: Any, handle: Any) -> Any:
    """Return the memory of a device by the second version of the call, or else by the first.

    Older drivers have only the first version, which counts reserved memory as used.
    """
    ask = nvml.nvmlDeviceGetMemoryInfo
    return _measurement(nvml, ask, handle, nvml.nvmlMemory_v2) or _measurement(nvml, ask, handle)


def _process_shares(nvml: Any, handle: Any) -> dict[int, float] | None:
    """Return the part of the device's time that each process had lately, in percent by pid."""
    since = int((time.time() - LATELY) * 1e6)  # microseconds

    def ask() -> Any:
        try:
            return nvml.nvmlDeviceGetProcessUtilization(handle, since)
        except nvml.NVMLError as error:
            if error.value in (nvml.NVML_SUCCESS, nvml.NVML_ERROR_NOT_FOUND):
                return ()  # no process did anything
            raise

    samples = _measurement(nvml, ask)
    if samples is None:
        return None
    # Of several samples of a process, the newest counts, because it is written last.
    oldest_first = sorted(samples, key=lambda sample: sample.timeStamp)
    return {sample.pid: float(sample.smUtil) for sample in oldest_first}


def _measurement(nvml: Any, ask: Callable[..., Any], *arguments: Any) -> Any:
    """Return what the driver answers; ``None`` if it refuses. Raises its error if the device is
    gone."""
    try:
        return _answer(nvml, ask, *arguments)
    except nvml.NVMLError as error:
        if error.value in (nvml.NVML_ERROR_GPU_IS_LOST, nvml.NVML_ERROR_UNINITIALIZED):
            raise
        return None


def _answer(nvml: Any, ask: Callable[..., Any], *arguments: Any) -> Any:
    """Return what the driver answers; ``None`` if this device or this driver cannot tell."""
    unsupported = (nvml.NVML_ERROR_NOT_SUPPORTED, nvml.NVML_ERROR_FUNCTION_NOT_FOUND)
    try:
        return ask(*arguments)
    except nvml.NVMLLibraryMismatchError:  # the driver is years older than the library
        return None
    except nvml.NVMLError as error:
        if error.value in unsupported:
            return None
        raise
