"""Parses the nodes in the output of ``scontrol show node --oneliner``. Pure."""

import re
from collections.abc import Iterator
from datetime import datetime

from engines.nodes import Allocation, Condition, Gpu, NodeInfo
from engines.slurm.script.site import FEATURE, PARTITION
from spec.parts.scheduling import NODE_TYPE

FIELD = re.compile(r"(?:^| )([A-Z][A-Za-z_:/]*)=")
GPU = re.compile(r"gpu(?::([A-Za-z][^:,(]*))?:(\d+)")
MIB = 1024 * 1024
UNAVAILABLE = (
    "DOWN",
    "DRAIN",
    "FAIL",
    "NOT_RESPONDING",
    "UNKNOWN",
    "POWER",
    "MAINT",
    "REBOOT",
    "INVAL",
)


def parse_fields(line: str) -> dict[str, str]:
    """Return the ``Key=value`` pairs of a line. Values may contain spaces."""
    _, *parts = FIELD.split(line)
    return {key: value.strip() for key, value in zip(parts[::2], parts[1::2], strict=True)}


def parse_nodes(text: str, at: datetime | None = None) -> tuple[NodeInfo, ...]:
    """Return the nodes in the output of ``scontrol``, which was printed ``at`` this time."""
    return tuple(_iterate_nodes(text, at))


def _iterate_nodes(text: str, at: datetime | None) -> Iterator[NodeInfo]:
    for line in text.splitlines():
        report = parse_fields(line)
        if "NodeName" in report:
            yield _node(report, at)


def _node(report: dict[str, str], at: datetime | None) -> NodeInfo:
    state = report.get("State", "")
    reason = report.get("Reason", "")
    ready = not any(sign in state.upper() for sign in UNAVAILABLE) and not state.endswith("*")
    gpus = _gpus(report.get("Gres", ""))
    features = _list(report.get("ActiveFeatures", ""))
    labels = {f"{PARTITION}{name}": "" for name in _list(report.get("Partitions", ""))}
    labels |= {f"{FEATURE}{name}": "" for name in features}
    if features:
        labels[NODE_TYPE] = features[0]
    allocated = dict(it.split("=", 1) for it in _list(report.get("AllocTRES", "")) if "=" in it)
    return NodeInfo(
        name=report["NodeName"],
        cpu=float(report.get("CPUEfctv") or report.get("CPUTot") or 1),
        memory=int(report.get("RealMemory", "1")) * MIB,
        gpus=gpus,
        ready=ready,
        message="" if ready else f"Slurm says {state}" + (f": {reason}" if reason else ""),
        labels=labels,
        conditions=(Condition("State", "True" if ready else "False", state, reason),),
        allocated=Allocation(
            float(report.get("CPUAlloc", "0")),
            int(report.get("AllocMem", "0")) * MIB,
            float(allocated.get("gres/gpu", "0")),
        ),
        counted_at=at,
    )


def _gpus(gres: str) -> tuple[Gpu, ...]:
    results: list[Gpu] = []
    for model, count in GPU.findall(gres):
        first = len(results)
        results += [Gpu(first + number, model or "GPU", 0) for number in range(int(count))]
    return tuple(results)


def _list(text: str) -> list[str]:
    return [part for part in text.split(",") if part and part != "(null)"]
