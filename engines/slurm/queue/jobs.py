"""Jobs as ``squeue`` and ``sacct`` print them. As text, which stays the same. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

BETWEEN = "\x1f"
#: A mark, id, name, state, submit time, start, end, nodes, the number of its user and, because it
#: is free text, the reason last.
SQUEUE = BETWEEN.join(("{}", "%i", "%j", "%T", "%V", "%S", "%e", "%N", "%U", "%r"))
SACCT = "JobID,JobName%64,State,Submit,Start,End,NodeList,UID,ExitCode,Reason"
QUEUED = {"PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"}
OVER = {
    *("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "DEADLINE", "NODE_FAIL", "OUT_OF_MEMORY"),
    *("BOOT_FAIL", "PREEMPTED", "REVOKED", "LAUNCH_FAILED", "RECONFIG_FAIL"),
}
NO_NODES = {"", "None assigned", "(null)"}  # as the two programs and their releases say it


@dataclass(frozen=True)
class BatchJob:
    """A job of ours. ``state`` is one word in capitals; times are empty where Slurm knows none."""

    id: str
    name: str
    state: str
    submitted: datetime | None = None
    start: datetime | None = None
    end: datetime | None = None
    nodes: str = ""
    reason: str = ""
    user: str = ""  # the number of
    exit: str = ""  # code:signal, where accounting says it

    @property
    def is_over(self) -> bool:
        return self.state in OVER

    @property
    def is_queued(self) -> bool:
        return self.state in QUEUED

    @property
    def was_refused(self) -> bool:
        """Whether it is what a refused submission leaves: a record that failed, and that no node
        ever had."""
        return self.state == "FAILED" and self.nodes in NO_NODES


def from_squeue(text: str, mark: str) -> list[BatchJob]:
    """A line without the mark that was asked for, or of another shape, is from somebody's name with
    a line end in it, which can hold whatever squeue prints."""
    rows = (line.split(BETWEEN) for line in text.split("\n"))
    own = (row[1:] for row in rows if len(row) == 10 and row[0] == mark)
    return [_job(row, reason=row[8]) for row in own if _leads(row[0])]


def from_sacct(text: str) -> list[BatchJob]:
    """``-P`` with ``SACCT``. A job that was requeued has a line for each start: the last counts."""
    rows = (line.split("|", 9) for line in text.split("\n"))
    return [
        _job(row, reason=row[9], exit=row[8]) for row in rows if len(row) == 10 and _leads(row[0])
    ]


def _job(row: Sequence[str], *, reason: str, exit: str = "") -> BatchJob:
    number, name, state, submitted, start, end, nodes, user = row[:8]
    times = _time(submitted), _time(start), _time(end)
    number = number.removesuffix("+0")
    return BatchJob(number, name, _word(state), *times, nodes, reason, user, exit)


def by_name(jobs: Iterable[BatchJob]) -> dict[str, list[BatchJob]]:
    results: dict[str, list[BatchJob]] = {}
    for job in jobs:
        results.setdefault(job.name, []).append(job)
    return results


def chosen(jobs: Iterable[BatchJob], own: str) -> BatchJob | None:
    """The one of several of a name that has the run: by its number, ``own``, else the first that is
    not over, for the scripts of the others leave it alone. One that is over is not ours by its name
    alone: a submission that was refused leaves one that failed."""
    there = [job for job in jobs if job.id == own or not job.is_over]
    ordered = sorted(there, key=lambda job: (job.id != own, _number(job.id)))
    return ordered[0] if ordered else None


def _leads(number: str) -> bool:
    """A heterogeneous job is ``52+0``, ``52+1``: the first part speaks for all."""
    return "+" not in number or number.endswith("+0")


def _word(state: str) -> str:
    """``CANCELLED by 1000``, ``PENDING+…``: the first word alone."""
    return state.replace("+", " ").split(" ")[0].upper() if state else ""


def _number(job_id: str) -> int:
    head = job_id.split("_")[0]
    return int(head) if head.isdigit() else 0


def _time(text: str) -> datetime | None:
    """Slurm's clock, which is asked in UTC."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return None
