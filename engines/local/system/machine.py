"""The resources of this machine."""

import csv
import io
import os
import platform
import shutil
import subprocess

import psutil

from engines.nodes import Gpu, NodeInfo

QUERY = ["--query-gpu=index,name,memory.total", "--format=csv,noheader,nounits"]


def node(virtual_gpus: int) -> NodeInfo:
    """This machine as a node. Without a GPU it offers ``virtual_gpus``, which run on the CPU."""
    memory = psutil.virtual_memory().total
    gpus = real_gpus() or tuple(
        Gpu(index, "Virtual GPU (runs on the CPU)", memory // virtual_gpus, virtual=True)
        for index in range(virtual_gpus)
    )
    return NodeInfo(platform.node() or "localhost", float(os.cpu_count() or 1), memory, gpus)


def real_gpus() -> tuple[Gpu, ...]:
    """NVIDIA's devices according to its tool; none if the tool is missing or fails."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return ()
    try:
        listing = subprocess.run(
            [program, *QUERY], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return parse_gpus(listing.stdout)


def parse_gpus(table: str) -> tuple[Gpu, ...]:
    """Lines of ``index, name, MiB``; a device without a size (unified memory) is left out."""
    rows = csv.reader(io.StringIO(table), skipinitialspace=True)
    return tuple(
        Gpu(int(row[0]), row[1].strip(), int(row[2]) * 1024**2)
        for row in rows
        if len(row) == 3 and row[0].strip().isdigit() and row[2].strip().isdigit()
    )
