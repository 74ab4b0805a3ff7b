"""Describes the limits of Slurm's accounts. Pure."""

from collections.abc import Iterable, Iterator

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


def read_qos(rows: Iterable[str]) -> list[str]:
    """Return the names of the QOS that Trainyard's user may use, from rows such as
    ``account|qos,qos``."""
    lists = (row.partition("|")[2].split(",") for row in rows)
    return sorted({name for names in lists for name in names if name})


def own_accounts(rows: Iterable[str]) -> list[str]:
    """Return the names of the accounts of Trainyard's user, each once, from rows such as
    ``account|qos,qos``."""
    return sorted({row.split("|")[0] for row in rows if row.strip("|")})
