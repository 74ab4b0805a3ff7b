"""Measures what ranks use of their GPUs, once a second beside the supervisor."""

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
AGAIN = 60.0  # seconds until a driver that fails is tried again
STALE = 5.0  # seconds after which a reading says nothing about now
#: The first namespace of process numbers. In another one the driver's numbers may mean others.
OUTERMOST = "pid:[4026531836]"


@dataclass(frozen=True)
class GpuUsage:
    """``utilization`` in percent, the mean of a rank's devices; ``memory`` in bytes, their sum.
    ``None`` is what could not be measured on each of them."""

    utilization: float | None = None
    memory: int | None = None


class Gauge(Thread):
    """Reads devices in a thread of its own: a driver in trouble may not answer for minutes, in
    which ranks still have to be tended. Where there is no driver it says so once and ends; one that
    fails is tried again each minute.

    ``shared`` are the devices of which a rank has a part: only their processes are told apart.
    """

    def __init__(self, devices: Iterable[int], *, shared: Iterable[int] = ()) -> None:
        super().__init__(name="gauge", daemon=True)
        self.devices = sorted(set(devices))
        self.shared = frozenset(shared)
        self._readings: dict[int, GpuReading] = {}
        self._at = 0.0
        self._over = Event()
        self._lost: set[int] = set()

    def open(self) -> None:
        """Begin, if there are devices to measure, and the machine lets another thread start."""
        if self.devices:
            try:
                self.start()
            except RuntimeError as error:  # at a limit of processes: ranks run all the same
                logger.warning("The use of GPUs is not measured: %s", error)

    def run(self) -> None:
        said = ""
        while not self._over.is_set():
            try:
                self._measure()
            except DriverError as error:
                if str(error) != said:
                    logger.warning("The use of GPUs is not measured: %s", error)
                if isinstance(error, NoDriver):
                    return
                said = str(error)
            except Exception:
                logger.exception("The use of GPUs is not measured any more")
                return
            self._over.wait(AGAIN)

    def _measure(self) -> None:
        """Read until the end."""
        with nvidia.driver() as nvml:
            while not self._over.is_set():
                readings = {index: self._read(nvml, index) for index in self.devices}
                self._readings = readings
                self._at = time.monotonic()
                self._over.wait(EVERY)

    def _read(self, nvml: object, index: int) -> GpuReading:
        try:
            reading = nvidia.read(nvml, index, shares=index in self.shared)
        except DriverError as error:
            if index not in self._lost:
                logger.warning("The use of GPU %d is not measured: %s", index, error)
            self._lost.add(index)
            return GpuReading()
        if index in self._lost:
            logger.warning("The use of GPU %d is measured again", index)
        self._lost.discard(index)
        return reading

    def close(self) -> None:
        """End the thread, unless the driver holds it."""
        self._over.set()
        if self.is_alive():
            self.join(EVERY)

    def usage(self, devices: Iterable[int], pids: Collection[int], *, shares: bool) -> GpuUsage:
        """What a rank with these processes uses now of its devices: all that happens on its own
        ones, as tools for whole machines count it, and of those that it ``shares`` with others what
        its processes do, where the driver tells them apart."""
        if time.monotonic() - self._at > STALE:
            return GpuUsage()
        readings = [self._readings.get(index, GpuReading()) for index in devices]
        readings = [_part(it, pids) if shares else _whole(it, pids) for it in readings]
        rates = [it.utilization for it in readings if it.utilization is not None]
        held = [it.memory for it in readings if it.memory is not None]
        return GpuUsage(
            round(sum(rates) / len(rates), 1) if rates and len(rates) == len(readings) else None,
            sum(held) if held and len(held) == len(readings) else None,
        )


def _whole(reading: GpuReading, pids: Collection[int]) -> GpuReading:
    """A device with one user. Where it has no memory of its own, the user's processes tell."""
    if reading.memory is not None:
        return reading
    return replace(reading, memory=_part(reading, pids).memory)


def _part(reading: GpuReading, pids: Collection[int]) -> GpuReading:
    """What these processes do of all that happens on a device."""
    shares = reading.shares
    held = reading.held
    sure = tells_processes() or any(pid in pids for pid in held or ())
    if not sure:
        return GpuReading()
    own = None if held is None else [it for pid, it in held.items() if pid in pids]
    return GpuReading(
        None if shares is None else sum(share for pid, share in shares.items() if pid in pids),
        None if own is None else total(own),
    )


def total(amounts: Iterable[int | None]) -> int | None:
    """The sum; ``None`` if one of them is not measured."""
    amounts = list(amounts)
    measured = [amount for amount in amounts if amount is not None]
    return sum(measured) if len(measured) == len(amounts) else None


def tells_processes() -> bool:
    """Whether the driver's process numbers are those of this process."""
    try:
        return str(Path("/proc/self/ns/pid").readlink()) == OUTERMOST
    except OSError:
        return False
