"""The resources of this machine."""

import os
import platform
import time
from threading import Lock

import psutil

from engines.findings import Finding
from engines.local.system import nvidia
from engines.nodes import Gpu, NodeInfo

FRESH = 5.0  # seconds for which what was seen of this machine holds, at least
SPARING = 50  # times the seconds that the look took: waking idle GPUs up may take some
LONGEST = 60.0  # seconds for which it holds at most: a driver that hangs may soon answer

State = tuple[NodeInfo, tuple[Finding, ...]]


class Machine:
    """This machine, and what is wrong with it, as of a moment ago: a driver may come up late, and a
    device may be lost."""

    def __init__(self, virtual_gpus: int) -> None:
        self._virtual_gpus = virtual_gpus
        self._looking = Lock()
        self._latest: State | None = None
        self._until = 0.0

    def state(self) -> State:
        """As ``look``. While one thread looks, others get the last state, and wait only if
        there is none."""
        latest = self._latest
        if latest is not None and time.monotonic() < self._until:
            return latest
        if latest is None:
            self._looking.acquire()
        elif not self._looking.acquire(blocking=False):
            return latest
        try:
            return self._renewed()
        finally:
            self._looking.release()

    def _renewed(self) -> State:
        at = time.monotonic()
        if self._latest is None or at >= self._until:
            self._latest = look(self._virtual_gpus)
            now = time.monotonic()
            self._until = now + min(max(FRESH, (now - at) * SPARING), LONGEST)
        return self._latest


def look(virtual_gpus: int) -> State:
    """This machine as a node, and what is wrong with its GPUs.

    Without a GPU it offers ``virtual_gpus``, which run on the CPU. Where there are GPUs but none
    can be used it offers none: what asks for one shall wait, not train on the CPU.
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
