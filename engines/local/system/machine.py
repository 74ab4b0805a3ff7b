"""The resources of this machine."""

import os
import platform
import time
from threading import Lock

import psutil

from engines.findings import Finding
from engines.local.system import nvidia
from engines.nodes import Gpu, NodeInfo

FRESH = 5.0  # seconds for which an inspection is valid, at least
SPARING = 50  # times the seconds that the inspection took, which may be some for idle GPUs
LONGEST = 60.0  # seconds for which it is valid at most: a driver that hangs may soon answer

State = tuple[NodeInfo, tuple[Finding, ...]]


class Machine:
    """Inspects this machine again and again, because a driver may start late and a device may be
    lost. An inspection is reused for a while."""

    def __init__(self, virtual_gpus: int) -> None:
        self._virtual_gpus = virtual_gpus
        self._inspection_lock = Lock()
        self._latest: State | None = None
        self._fresh_until = 0.0

    def state(self) -> State:
        """Return what ``inspect_machine`` returned a moment ago.

        While one thread inspects, others get the last state, and wait only if there is none.
        """
        latest = self._latest
        if latest is not None and time.monotonic() < self._fresh_until:
            return latest
        if latest is None:
            self._inspection_lock.acquire()
        elif not self._inspection_lock.acquire(blocking=False):
            return latest
        try:
            return self._refresh()
        finally:
            self._inspection_lock.release()

    def _refresh(self) -> State:
        """Inspect the machine, unless another thread has just done so. The caller holds the
        lock."""
        began = time.monotonic()
        if self._latest is None or began >= self._fresh_until:
            self._latest = inspect_machine(self._virtual_gpus)
            ended = time.monotonic()
            valid_seconds = max(FRESH, (ended - began) * SPARING)
            self._fresh_until = ended + min(valid_seconds, LONGEST)
        return self._latest


def inspect_machine(virtual_gpus: int) -> State:
    """Return this machine as a node, and what is wrong with its GPUs.

    A machine without GPUs has ``virtual_gpus``, which run on the CPU. One whose GPUs cannot be used
    has none, so that workloads wait for the GPUs instead of training on the CPU.
    """
    memory = psutil.virtual_memory().total
    devices = nvidia.devices()
    gpus = devices.gpus
    if not gpus and not devices.findings:
        gpus = tuple(
            Gpu(index, "Virtual GPU (runs on the CPU)", memory // virtual_gpus, virtual=True)
            for index in range(virtual_gpus)
        )
    node = NodeInfo(platform.node() or "localhost", float(os.cpu_count() or 1), memory, gpus)
    return node, devices.findings
