"""Reads and describes the limits of Slurm's accounts and QOS. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields

from engines.partitions import BillingAccount, JobLimits, ServiceLevel
from engines.slurm.cluster.partitions import parse_seconds
from spec.imports.directives import parse_size

#: Columns of ``sacctmgr show assoc``, and the words for each limit.
LIMITS = {
    "grptres": "{} at once",
    "grpjobs": "{} jobs running",
    "grpsubmit": "{} jobs, waiting ones among them",
    "maxtresperjob": "{} for each job",
    "maxjobs": "{} jobs of each user running",
    "maxsubmit": "{} jobs of each user, waiting ones among them",
    "maxwall": "{} for each job (days-hours:minutes:seconds)",
}
NAMES = {"gres/gpu": "GPUs", "cpu": "CPUs", "mem": "memory", "node": "nodes"}


def read_limits(rows: Iterable[str]) -> dict[str, str]:
    """Return the limits of each account in words, from rows such as ``account|grptres|…``. The text
    of an account without limits is empty."""
    results: dict[str, str] = {}
    for row in rows:
        account, *values = row.split("|")
        columns = zip(LIMITS.values(), values, strict=False)  # a cut row has fewer values
        texts = [text.format(_describe_resources(value)) for text, value in columns if value]
        results[account] = "; ".join(texts)
    return results


def _describe_resources(value: str) -> str:
    """Return resources in words: ``gres/gpu=4,cpu=8`` becomes ``4 GPUs, 8 CPUs``."""
    return ", ".join(_resources(value))


def _resources(value: str) -> Iterator[str]:
    for part in value.split(","):
        name, _, amount = part.rpartition("=")
        if not name:
            yield amount
        elif name == "mem":
            yield f"{amount} of memory"
        else:
            yield f"{amount} {NAMES.get(name, name)}"


def parse_accounts(
    limits: Sequence[str], own: Sequence[str], default: str
) -> tuple[BillingAccount, ...]:
    """Return the accounts, from rows of ``LIMITS`` such as ``account|grptres|…``. ``own`` are the
    rows of Trainyard's user, such as ``account|qos,qos|grptres|…``."""
    words = read_limits(limits)
    qos: dict[str, set[str]] = {}
    most: dict[str, JobLimits] = {}
    for row in limits:
        account, *values = row.split("|")
        most[account] = job_limits(dict(zip(LIMITS, values, strict=False)))
    for row in own:
        account, names, *values = [*row.split("|"), ""]
        qos.setdefault(account, set()).update(filter(None, names.split(",")))
        personal = job_limits(dict(zip(LIMITS, values, strict=False)))
        most[account] = _stricter(most.get(account, JobLimits()), personal)
    return tuple(
        BillingAccount(
            name,
            said,
            is_default=name == default,
            is_own=name in qos,
            qos=tuple(sorted(qos.get(name, ()))),
            most=most[name],
        )
        for name, said in words.items()
    )


def parse_service_levels(rows: Iterable[str]) -> tuple[ServiceLevel, ...]:
    """Return the QOS, from rows such as ``name|grptres|maxtresperjob|maxwall``."""
    columns = ("grptres", "maxtresperjob", "maxwall")
    levels: list[ServiceLevel] = []
    for row in rows:
        name, *values = row.split("|")
        if name:
            limits = job_limits(dict(zip(columns, values, strict=False)))
            levels.append(ServiceLevel(name, limits))
    return tuple(levels)


def job_limits(columns: Mapping[str, str]) -> JobLimits:
    """Return the most that one job can get: what all jobs together may have bounds each of them."""
    limits = JobLimits(seconds=parse_seconds(columns.get("maxwall", "")))
    for column in ("grptres", "maxtresperjob"):
        limits = _stricter(limits, _resource_limits(columns.get(column, "")))
    return limits


def _resource_limits(text: str) -> JobLimits:
    """Return the limits in a text such as ``gres/gpu=4,cpu=8,mem=4G``."""
    amounts = dict(part.split("=", 1) for part in text.split(",") if "=" in part)
    numbers = {name: int(amount) for name, amount in amounts.items() if amount.isdecimal()}
    return JobLimits(
        gpus=numbers.get("gres/gpu"),
        cpus=numbers.get("cpu"),
        memory=parse_size(amounts.get("mem", "")),
        nodes=numbers.get("node"),
    )


def _stricter(one: JobLimits, other: JobLimits) -> JobLimits:
    """Return the smaller of each limit."""
    values: dict[str, int | None] = {}
    for each in fields(JobLimits):
        pair = (getattr(one, each.name), getattr(other, each.name))
        values[each.name] = min((it for it in pair if it is not None), default=None)
    return JobLimits(**values)


def read_qos(rows: Iterable[str]) -> list[str]:
    """Return the names of the QOS that Trainyard's user may use, from rows such as
    ``account|qos,qos``."""
    lists = (row.partition("|")[2].split(",") for row in rows)
    return sorted({name for names in lists for name in names if name})


def own_accounts(rows: Iterable[str]) -> list[str]:
    """Return the names of the accounts of Trainyard's user, each once, from rows such as
    ``account|qos,qos``."""
    return sorted({row.split("|")[0] for row in rows if row.strip("|")})
