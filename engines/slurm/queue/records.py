"""Parse jobs from ``sacct --json``. Pure.

The format depends on the release: what is a number or a word in 22.05 is an object or a list in
24.11. Anything that cannot be parsed is left out, as what matters is polled as text.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from engines.slurm.queue.jobs import OVER, BatchJob

MIB = 2**20
ASIDE = "extern"  # a step that is not a program of the job
ODD = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
Json = Any


@dataclass(frozen=True)
class StepRecord:
    """A step that ended. ``exit`` is ``code:signal``. ``memory`` is the most that one of its tasks
    used, in bytes, on ``memory_node``."""

    name: str
    exit: str = ""
    memory: int = 0
    memory_node: str = ""


@dataclass(frozen=True)
class JobRecord:
    """One start of a job, or of a part of a heterogeneous job. ``id`` is that of the whole job,
    ``part`` the number of the part. ``exit`` is empty if Slurm does not report it. ``allocated``
    counts resources, memory in bytes."""

    id: str
    name: str
    state: str
    start: datetime | None = None
    end: datetime | None = None
    nodes: str = ""
    exit: str = ""
    part: int | None = None
    partition: str = ""
    account: str = ""
    qos: str = ""
    allocated: Mapping[str, int] = field(default_factory=dict)
    ended_by: str = ""
    failed_node: str = ""
    steps: Sequence[StepRecord] = ()

    @property
    def is_over(self) -> bool:
        return self.state in OVER or self.state == "REQUEUED"


def of_text(job: BatchJob) -> JobRecord:
    """The record of a job without JSON, from the queue."""
    return JobRecord(job.id, job.name, job.state, job.start, job.end, job.nodes, job.exit)


def from_json(text: str) -> list[JobRecord] | None:
    """The records in an answer; ``None`` if it is not JSON, as from a Slurm built without it."""
    try:
        jobs = json.loads(text)["jobs"]
        return [record for job in jobs for record in _records(job)]
    except ODD:
        return None


def _records(job: Json) -> Iterator[JobRecord]:
    with suppress(*ODD):
        times = job["time"]
        het = job.get("het") or {}
        state = word(job["state"]["current"])
        whole = number(het.get("job_id"))
        yield JobRecord(
            id=str(whole or job["job_id"]),
            name=job["name"],
            state=state,
            start=_at(times["start"]),
            end=_at(times["end"]),
            nodes="" if job.get("nodes") in {None, "None assigned"} else job["nodes"],
            exit=_exit(job["exit_code"], state),
            part=number(het.get("job_offset")) if whole else None,
            partition=job.get("partition") or "",
            account=job.get("account") or "",
            qos=job.get("qos") or "",
            allocated=_counts(job["tres"]["requested"]) | _counts(job["tres"]["allocated"]),
            ended_by=job.get("kill_request_user") or "",
            failed_node=job.get("failed_node") or "",
            steps=tuple(step for it in job["steps"] for step in _steps(it)),
        )


def _steps(step: Json) -> Iterator[StepRecord]:
    """The step, if it is over. Its id is ``0`` in 22.05 and ``52.0`` in 24.11."""
    with suppress(*ODD):
        name = str(step["step"]["id"]).rpartition(".")[2]
        state = word(step["state"])
        if name != ASIDE and state in OVER:
            memory, node = _most_memory(step["tres"]["requested"]["max"])
            yield StepRecord(name, _exit(step["exit_code"], state), memory, node)


def _most_memory(most: Json) -> tuple[int, str]:
    for it in most:
        if it["type"] == "mem":
            return number(it["count"]) or 0, it.get("node") or ""
    return 0, ""


def _counts(rows: Json) -> dict[str, int]:
    """Counts of ``cpu``, ``mem`` (in bytes) and ``gres/gpu``. Values that are not set are ``null``
    or negative. A controller that was just restarted may omit allocated GPUs."""
    results = {}
    for row in rows:
        count = number(row["count"]) or 0
        if count > 0:
            name = f"{row['type']}/{row['name']}" if row.get("name") else row["type"]
            results[name] = count * MIB if name == "mem" else count
    return results


def _exit(code: Json, state: str) -> str:
    """The exit as ``code:signal``. Empty where 22.05 reports success for a job that failed."""
    signal = code.get("signal") or {}
    by = number(signal.get("signal_id", signal.get("id"))) or 0
    status = number(code.get("return_code")) or 0
    return "" if state != "COMPLETED" and not (by or status) else f"{status}:{by}"


def number(value: Json) -> int | None:
    """A number from ``60`` or ``{"set": true, "infinite": false, "number": 60}``."""
    if isinstance(value, Mapping):
        value = value["number"] if value["set"] and not value["infinite"] else None
    return None if value is None else int(value)


def word(value: Json) -> str:
    """A state from ``"RUNNING"`` or ``["RUNNING"]``, whose further words are flags."""
    return str(value if isinstance(value, str) else value[0])


def _at(value: Json) -> datetime | None:
    seconds = number(value)
    return datetime.fromtimestamp(seconds, UTC) if seconds and seconds > 0 else None
