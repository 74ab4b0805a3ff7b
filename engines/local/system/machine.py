"""The resources of this machine."""

import os
import platform

import psutil

from engines.findings import Finding
from engines.local.system import nvidia
from engines.nodes import Gpu, NodeInfo


def look(virtual_gpus: int) -> tuple[NodeInfo, tuple[Finding, ...]]:
    """This machine as a node, and what is wrong with its GPUs.

    Without a GPU it offers ``virtual_gpus``, which run on the CPU. Where there are GPUs but none
    can be used it offers none: what asks for one shall wait, not train on the CPU.
    """
    memory, devices = psutil.virtual_memory().total, nvidia.devices()
    gpus = devices.gpus
    if not gpus and not devices.findings:
        gpus = tuple(
            Gpu(index, "Virtual GPU (runs on the CPU)", memory // virtual_gpus, virtual=True)
            for index in range(virtual_gpus)
        )
    node = NodeInfo(platform.node() or "localhost", float(os.cpu_count() or 1), memory, gpus)
    return node, devices.findings
