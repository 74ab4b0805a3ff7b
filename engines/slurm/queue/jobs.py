"""Parse jobs from the text that ``squeue`` and ``sacct`` print, whose format stays the same between
releases. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

BETWEEN = "\x1f"
#: A mark, id, name, state, submit time, start, end, nodes, user id, and the reason, which is last
#: because it is free text.
SQUEUE = BETWEEN.join(("{}", "%i", "%j", "%T", "%V", "%S", "%e", "%N", "%U", "%r"))
SACCT = "JobID,JobName%64,State,Submit,Start,End,NodeList,UID,ExitCode,Reason"
QUEUED = {"PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"}
OVER = {
    *("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "DEADLINE", "NODE_FAIL", "OUT_OF_MEMORY"),
    *("BOOT_FAIL", "PREEMPTED", "REVOKED", "LAUNCH_FAILED", "RECONFIG_FAIL"),
}
NO_NODES = {"", "None assigned", "(null)"}  # the words depend on program and release


@dataclass(frozen=True)
class BatchJob:
    """A job of ours. ``state`` is one word in capitals. Times that Slurm does not know are
    ``None``."""

    id: str
    name: str
    state: str
    submitted: datetime | None = None
    start: datetime | None = None
    end: datetime | None = None
    nodes: str = ""
    reason: str = ""
    user: str = ""  # its id
    exit: str = ""  # code:signal, only from accounting

    @property
    def is_over(self) -> bool:
        return self.state in OVER

    @property
    def is_queued(self) -> bool:
        return self.state in QUEUED

    @property
    def was_refused(self) -> bool:
        """Whether this is what a refused submission leaves behind: a failed record without any
        nodes."""
        return self.state == "FAILED" and self.nodes in NO_NODES


def from_squeue(text: str, mark: str) -> list[BatchJob]:
    """Jobs in the output of squeue. Lines without the requested mark, or with another number of
    columns, are ignored: a job name may contain line breaks and imitate any output."""
    rows = (line.split(BETWEEN) for line in text.split("\n"))
    own = (row[1:] for row in rows if len(row) == 10 and row[0] == mark)
    return [_job(row, reason=row[8]) for row in own if _leads(row[0])]


def from_sacct(text: str) -> list[BatchJob]:
    """Jobs in the output of sacct, which was called with ``-P`` and ``SACCT``. A job that was
    requeued has a line for each start, the last of which counts."""
    rows = (line.split("|", 9) for line in text.split("\n"))
    return [
        _job(row, reason=row[9], exit=row[8]) for row in rows if len(row) == 10 and _leads(row[0])
    ]


def _job(row: Sequence[str], *, reason: str, exit: str = "") -> BatchJob:
    number, name, state, submitted, start, end, nodes, user = row[:8]
    times = _time(submitted), _time(start), _time(end)
    number = number.removesuffix("+0")
    return BatchJob(number, name, _word(state), *times, nodes, reason, user, exit)


def jobs_by_name(jobs: Iterable[BatchJob]) -> dict[str, list[BatchJob]]:
    """The jobs, grouped by name."""
    results: dict[str, list[BatchJob]] = {}
    for job in jobs:
        results.setdefault(job.name, []).append(job)
    return results


def job_of_run(jobs: Iterable[BatchJob], own: str) -> BatchJob | None:
    """The job that has the run, of several with one name: the one with the id ``own``, else the
    first that is not over, as the scripts of the others end without doing anything. A job that is
    over does not count by its name alone, since a refused submission leaves one that failed."""
    there = [job for job in jobs if job.id == own or not job.is_over]
    ordered = sorted(there, key=lambda job: (job.id != own, _number(job.id)))
    return ordered[0] if ordered else None


def _leads(number: str) -> bool:
    """Whether the job's first part has this id. The parts of a heterogeneous job are ``52+0``,
    ``52+1``; the first stands for all of them."""
    return "+" not in number or number.endswith("+0")


def _word(state: str) -> str:
    """The first word of a state, such as ``CANCELLED by 1000`` or ``PENDING+…``."""
    return state.replace("+", " ").split(" ")[0].upper() if state else ""


def _number(job_id: str) -> int:
    head = job_id.split("_")[0]
    return int(head) if head.isdigit() else 0


def _time(text: str) -> datetime | None:
    """A time of Slurm, which is requested in UTC. ``None`` if there is none."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return None
