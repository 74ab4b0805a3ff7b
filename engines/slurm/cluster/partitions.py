"""Parses the partitions in the output of ``scontrol show partition --oneliner``. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from engines.nodes import NodeInfo
from engines.partitions import NodeShape, Partition
from engines.slurm.cluster.nodes import MIB, parse_fields
from engines.slurm.script.site import FEATURE, PARTITION
from spec.problems.time_limit import format_duration
from spec.values.quantities import format_bytes

CLOSED = {"DRAIN", "INACTIVE"}  # a partition that is DOWN accepts jobs, and starts them later
TIME = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?")
NO_LIMIT = {"", "UNLIMITED", "INFINITE", "(null)", "ALL"}


def parse_partitions(text: str, nodes: Iterable[NodeInfo]) -> tuple[Partition, ...]:
    """Return the partitions in the output of ``scontrol``, with the shapes of their ``nodes``."""
    known_nodes = list(nodes)
    return tuple(_iterate_partitions(text, known_nodes))


def _iterate_partitions(text: str, nodes: list[NodeInfo]) -> Iterator[Partition]:
    for line in text.splitlines():
        report = parse_fields(line)
        if name := report.get("PartitionName"):
            members = [it for it in nodes if f"{PARTITION}{name}" in it.labels]
            yield _partition(name, report, members)


def _partition(name: str, report: dict[str, str], nodes: list[NodeInfo]) -> Partition:
    state = report.get("State", "UP").upper()
    counted = Counter(_shape(node) for node in nodes)
    shapes = tuple(replace(shape, count=number) for shape, number in counted.items())
    total = report.get("TotalNodes", "")
    return Partition(
        name,
        is_default=report.get("Default") == "YES",
        closed=state if state in CLOSED else "",
        max_seconds=parse_seconds(report.get("MaxTime", "")),
        max_nodes=_number(report.get("MaxNodes", "")),
        max_cpus=_number(report.get("MaxCPUsPerNode", "")),
        max_memory=_number(report.get("MaxMemPerNode", "")),
        accounts=_names(report, "AllowAccounts"),
        denied_accounts=_names(report, "DenyAccounts") or (),
        qos=_names(report, "AllowQos"),
        denied_qos=_names(report, "DenyQos") or (),
        nodes=shapes if total == str(len(nodes)) and nodes else None,
    )


def _names(report: dict[str, str], field: str) -> tuple[str, ...] | None:
    names = report.get(field, "")
    return None if names in NO_LIMIT else tuple(names.split(","))


def _shape(node: NodeInfo) -> NodeShape:
    features = [it.removeprefix(FEATURE) for it in node.labels if it.startswith(FEATURE)]
    models = ", ".join(dict.fromkeys(gpu.model for gpu in node.gpus))
    size = node.memory // MIB
    return NodeShape(1, int(node.cpu), size, len(node.gpus), tuple(sorted(features)), models)


def describe_partition(partition: Partition) -> str:
    """Describe in sentences what the partition has and allows."""
    return " ".join(f"{words[0].upper()}{words[1:]}." for words in _describe(partition))


def _describe(partition: Partition) -> Iterator[str]:
    if partition.is_default:
        yield "the default"
    if partition.closed:
        yield f"takes no jobs, it is {partition.closed}"
    if partition.nodes is not None:
        yield ", ".join(map(_describe_nodes, partition.nodes))
    limits = [format_duration(partition.max_seconds)] if partition.max_seconds else []
    limits += [_count(partition.max_nodes, "node")] if partition.max_nodes else []
    limits += [f"{_count(partition.max_cpus, 'core')} on each"] if partition.max_cpus else []
    limits += (
        [f"{format_bytes(partition.max_memory * MIB)} on each"] if partition.max_memory else []
    )
    yield f"a job may have {', '.join(limits)}" if limits else "no limits of its own"
    if partition.accounts is not None:
        yield f"only for {', '.join(partition.accounts)}"


def _describe_nodes(shape: NodeShape) -> str:
    model = f" ({shape.gpu_model})" if shape.gpu_model else ""
    gpus = f" and {_count(shape.gpus, 'GPU')}{model}" if shape.gpus else ""
    cores = f"{_count(shape.count, 'node')} with {_count(shape.cpus, 'core')}"
    return f"{cores}, {format_bytes(shape.memory * MIB)}{gpus}"


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def parse_seconds(text: str) -> int | None:
    """Return a time limit in seconds, from ``1-12:00:00``, ``12:00:00``, ``30:00`` or ``90``
    (minutes). ``None`` if there is none, or it cannot be parsed."""
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
