"""Measures once a second what ranks use of their GPUs, in a thread of the supervisor."""

import logging
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Thread

from engines.local.system import nvidia
from engines.local.system.nvidia import DriverError, GpuReading, NoDriver

logger = logging.getLogger(__name__)

EVERY = 1.0  # seconds between readings
RETRY = 60.0  # seconds until a driver that fails is tried again
STALE = 5.0  # seconds after which a reading is too old
#: The first namespace of pids. In another one, the driver's pids may mean other processes.
OUTERMOST = "pid:[4026531836]"


@dataclass(frozen=True)
class GpuUsage:
    """``utilization`` in percent, the mean of a rank's devices; ``memory`` in bytes, their sum.
    They are ``None`` unless they were measured on each device."""

    utilization: float | None = None
    memory: int | None = None


class Gauge(Thread):
    """Reads devices in a thread of its own, because a driver in trouble may not answer for minutes,
    and the supervisor must not wait.

    Without a driver it logs that and ends. A driver that fails is tried again each minute.
    ``shared`` are the devices of which ranks have parts: only their processes are told apart.
    """

    def __init__(self, devices: Iterable[int], *, shared: Iterable[int] = ()) -> None:
        super().__init__(name="gauge", daemon=True)
        self.devices = sorted(set(devices))
        self.shared = frozenset(shared)
        self._readings: dict[int, GpuReading] = {}
        self._read_at = 0.0
        self._closed = Event()
        self._unreadable: set[int] = set()

    def open(self) -> None:
        """Start measuring, if there are devices and the machine allows another thread."""
        if self.devices:
            try:
                self.start()
            except RuntimeError as error:  # at a limit of processes: ranks run all the same
                logger.warning("The use of GPUs is not measured: %s", error)

    def run(self) -> None:
        last_error = ""
        while not self._closed.is_set():
            try:
                self._measure()
            except DriverError as error:
                if str(error) != last_error:
                    logger.warning("The use of GPUs is not measured: %s", error)
                if isinstance(error, NoDriver):
                    return
                last_error = str(error)
            except Exception:
                logger.exception("The use of GPUs is not measured any more")
                return
            self._closed.wait(RETRY)

    def _measure(self) -> None:
        """Read all devices once a second until the gauge is closed."""
        with nvidia.open_driver() as nvml:
            while not self._closed.is_set():
                # Assigned as a whole, because the supervisor's thread reads it meanwhile.
                readings = {index: self._read_device(nvml, index) for index in self.devices}
                self._readings = readings
                self._read_at = time.monotonic()
                self._closed.wait(EVERY)

    def _read_device(self, nvml: object, index: int) -> GpuReading:
        """Return the reading of a device, which is empty if the device cannot be read."""
        try:
            reading = nvidia.read_gpu(nvml, index, with_shares=index in self.shared)
        except DriverError as error:
            if index not in self._unreadable:
                logger.warning("The use of GPU %d is not measured: %s", index, error)
            self._unreadable.add(index)
            return GpuReading()
        if index in self._unreadable:
            logger.warning("The use of GPU %d is measured again", index)
        self._unreadable.discard(index)
        return reading

    def close(self) -> None:
        """End the thread. Waits at most a second, because the driver may not return from a call."""
        self._closed.set()
        if self.is_alive():
            self.join(EVERY)

    def usage(self, devices: Iterable[int], pids: Collection[int], *, shares: bool) -> GpuUsage:
        """Return what a rank with these processes uses of its devices now.

        If it ``shares`` them with other ranks, only what its processes do counts, where the driver
        tells them apart. Otherwise all that happens on its devices counts, as in ``nvidia-smi``.
        """
        if time.monotonic() - self._read_at > STALE:
            return GpuUsage()
        select = _shared_reading if shares else _exclusive_reading
        readings = [select(self._readings.get(index, GpuReading()), pids) for index in devices]
        if not readings:
            return GpuUsage()
        utilizations = [
            reading.utilization for reading in readings if reading.utilization is not None
        ]
        is_measured = len(utilizations) == len(readings)
        return GpuUsage(
            utilization=round(sum(utilizations) / len(readings), 1) if is_measured else None,
            memory=sum_measured(reading.memory for reading in readings),
        )


def _exclusive_reading(reading: GpuReading, pids: Collection[int]) -> GpuReading:
    """Return the reading of a device with one user. If it has no memory of its own, the memory of
    the user's processes counts."""
    if reading.memory is not None:
        return reading
    return replace(reading, memory=_shared_reading(reading, pids).memory)


def _shared_reading(reading: GpuReading, pids: Collection[int]) -> GpuReading:
    """Return the part of a reading that is due to these processes."""
    shares = reading.process_shares
    memory = reading.process_memory
    # The driver's pids may be those of another namespace, unless one of them is ours.
    if not (sees_driver_pids() or any(pid in pids for pid in memory or ())):
        return GpuReading()
    own_utilization = None
    if shares is not None:
        own_utilization = sum(share for pid, share in shares.items() if pid in pids)
    own_memory = None
    if memory is not None:
        own_memory = sum_measured(size for pid, size in memory.items() if pid in pids)
    return GpuReading(own_utilization, own_memory)


def sum_measured(amounts: Iterable[int | None]) -> int | None:
    """Return the sum; ``None`` if an amount is not measured."""
    total = 0
    for amount in amounts:
        if amount is None:
            return None
        total += amount
    return total


def sees_driver_pids() -> bool:
    """Whether the driver's pids mean the same processes as in this process."""
    try:
        return str(Path("/proc/self/ns/pid").readlink()) == OUTERMOST
    except OSError:
        return False
