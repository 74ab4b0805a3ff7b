"""Parses the output of ``sstat`` about the steps of jobs. Pure."""

import re
from collections import defaultdict
from dataclasses import dataclass

SAMPLE_SECONDS = 30.0  # seconds between two samples; each contacts all nodes of the jobs in it
COLUMNS = "JobID,TRESUsageInTot,TRESUsageInAve"
TIME = re.compile(r"(?:([0-9]{1,6})-)?([0-9]{1,6}):([0-9]{1,2}):([0-9]{1,2})")
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
OTHER_STEPS = {"batch", "extern"}  # steps that are not ranks


@dataclass
class StepUsage:
    """The usage of all running steps of a job, or of a part of it. CPU time in seconds and memory
    in bytes are sums. Usage of GPUs is the mean of the tasks, in percent and bytes, or ``None`` if
    Slurm does not measure it."""

    cpu: float = 0.0
    memory: int = 0
    gpu: float | None = None
    gpu_memory: int | None = None


def sum_usage(text: str) -> dict[str, StepUsage]:
    """Return the usage of each job in the output of ``sstat`` with ``COLUMNS``."""
    results: dict[str, StepUsage] = defaultdict(StepUsage)
    for line in text.splitlines():
        step, _, rest = line.partition("|")
        job, _, name = step.partition(".")
        total, _, mean = rest.partition("|")
        if not name or name in OTHER_STEPS:
            continue
        values = _parse_values(total)
        average = _parse_values(mean)
        usage = results[job]
        usage.cpu += _parse_seconds(values.get("cpu", ""))
        usage.memory += _parse_bytes(values.get("mem", ""))
        if "gres/gpuutil" in average:
            usage.gpu = float(_parse_bytes(average["gres/gpuutil"]))
        if "gres/gpumem" in average:
            usage.gpu_memory = _parse_bytes(average["gres/gpumem"])
    return dict(results)


def _parse_values(text: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in text.split(","))
    return {name: value for name, sign, value in pairs if sign}


def _parse_seconds(text: str) -> float:
    match = TIME.match(text)
    days, hours, minutes, seconds = (int(it or 0) for it in match.groups()) if match else (0,) * 4
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def _parse_bytes(text: str) -> int:
    number, unit = (text[:-1], text[-1]) if text[-1:] in UNITS and text else (text, "")
    try:
        return int(float(number) * UNITS[unit])
    except (ValueError, OverflowError):
        return 0
