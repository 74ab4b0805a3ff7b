"""Partitions as ``scontrol show partition --oneliner`` prints them, with their nodes. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from engines.nodes import NodeInfo
from engines.partitions import NodeShape, Partition
from engines.slurm.cluster.nodes import MIB, fields
from engines.slurm.script.site import FEATURE, PARTITION
from spec.problems.time_limit import format_duration
from spec.values.quantities import format_bytes

CLOSED = {"DRAIN", "INACTIVE"}  # one that is DOWN accepts jobs, and starts them later
TIME = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?")
NO_LIMIT = {"", "UNLIMITED", "INFINITE", "(null)", "ALL"}


def partitions(text: str, nodes: Iterable[NodeInfo]) -> tuple[Partition, ...]:
    """The partitions in the output of ``scontrol``, with the shapes of their ``nodes``."""
    there = list(nodes)
    return tuple(_partitions(text, there))


def _partitions(text: str, nodes: list[NodeInfo]) -> Iterator[Partition]:
    for line in text.splitlines():
        report = fields(line)
        if name := report.get("PartitionName"):
            own = [it for it in nodes if f"{PARTITION}{name}" in it.labels]
            yield _partition(name, report, own)


def _partition(name: str, report: dict[str, str], nodes: list[NodeInfo]) -> Partition:
    state = report.get("State", "UP").upper()
    accounts = report.get("AllowAccounts", "")
    counted = Counter(_shape(node) for node in nodes)
    shapes = tuple(replace(shape, count=number) for shape, number in counted.items())
    total = report.get("TotalNodes", "")
    return Partition(
        name,
        is_default=report.get("Default") == "YES",
        closed=state if state in CLOSED else "",
        max_seconds=seconds(report.get("MaxTime", "")),
        max_nodes=_number(report.get("MaxNodes", "")),
        max_cpus=_number(report.get("MaxCPUsPerNode", "")),
        max_memory=_number(report.get("MaxMemPerNode", "")),
        accounts=None if accounts in NO_LIMIT else tuple(accounts.split(",")),
        nodes=shapes if total == str(len(nodes)) and nodes else None,
    )


def _shape(node: NodeInfo) -> NodeShape:
    features = [it.removeprefix(FEATURE) for it in node.labels if it.startswith(FEATURE)]
    models = ", ".join(dict.fromkeys(gpu.model for gpu in node.gpus))
    size = node.memory // MIB
    return NodeShape(1, int(node.cpu), size, len(node.gpus), tuple(sorted(features)), models)


def partition_in_sentences(partition: Partition) -> str:
    """What the partition has and allows, in sentences."""
    return " ".join(f"{words[0].upper()}{words[1:]}." for words in _words(partition))


def _words(partition: Partition) -> Iterator[str]:
    if partition.is_default:
        yield "the default"
    if partition.closed:
        yield f"takes no jobs, it is {partition.closed}"
    if partition.nodes is not None:
        yield ", ".join(map(_nodes_in_words, partition.nodes))
    most = [format_duration(partition.max_seconds)] if partition.max_seconds else []
    most += [_some(partition.max_nodes, "node")] if partition.max_nodes else []
    most += [f"{_some(partition.max_cpus, 'core')} on each"] if partition.max_cpus else []
    most += [f"{format_bytes(partition.max_memory * MIB)} on each"] if partition.max_memory else []
    yield f"a job may have {', '.join(most)}" if most else "no limits of its own"
    if partition.accounts is not None:
        yield f"only for {', '.join(partition.accounts)}"


def _nodes_in_words(shape: NodeShape) -> str:
    model = f" ({shape.gpu_model})" if shape.gpu_model else ""
    gpus = f" and {_some(shape.gpus, 'GPU')}{model}" if shape.gpus else ""
    cores = f"{_some(shape.count, 'node')} with {_some(shape.cpus, 'core')}"
    return f"{cores}, {format_bytes(shape.memory * MIB)}{gpus}"


def _some(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def seconds(text: str) -> int | None:
    """A time limit in seconds, from ``1-12:00:00``, ``12:00:00``, ``30:00`` or ``90`` (minutes).
    ``None`` if there is none, or it cannot be parsed."""
    match = TIME.fullmatch(text)
    if not match:
        return None
    days, first, second, third = match.groups()
    if days is not None:
        hours = int(first)
        minutes = int(second or 0)
        rest = int(third or 0)
    elif third is not None:
        hours = int(first)
        minutes = int(second)
        rest = int(third)
    else:
        hours = 0
        minutes = int(first)
        rest = int(second or 0)
    return ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + rest


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() else None
