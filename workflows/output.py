"""The output of a workflow: the lines of all of its groups, merged by time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import merge

from workflows.models import GroupRun
from workloads.logs.reading.merge import last_window
from workloads.logs.store import latest_streams
from workloads.logs.text import plain_text
from workloads.models import Workload

LAST_LINES = 1000
COLOURS = 8


@dataclass(frozen=True)
class TaskLine:
    """A line that a rank of a task printed. ``number`` is the position of its group, and ``retry``
    counts how often the group had been started again."""

    at: datetime
    task: str
    retry: int
    number: int
    text: str

    @property
    def colour(self) -> int:
        """The number of its group's color."""
        return self.number % COLOURS


def last_lines(
    runs: Sequence[GroupRun], *, limit: int = LAST_LINES, task: str = "", retry: int | None = None
) -> list[TaskLine]:
    """Return the last lines of all groups, the oldest first; only those of a ``task`` and of one
    of its starts, if these are given."""
    sources = [
        list(_lines_of(run, workload, start, limit, task))
        for run in runs
        for start, workload in enumerate(run.workloads())
        if retry is None or retry == start
    ]
    merged = list(merge(*sources, key=lambda line: line.at))
    return merged[-limit:] if limit else []


def _lines_of(
    run: GroupRun, workload: Workload, retry: int, limit: int, task: str
) -> Iterator[TaskLine]:
    tasks = {it.role: it.name for it in run.definition.tasks}
    roles = {rank.rank: rank.role for rank in workload.ranks.all()}
    only_task = run.definition.tasks[0].name
    stored = latest_streams(workload.pk, workload.run, workload.attempt)
    streams = [
        stream
        for rank, stream in stored.items()
        if rank in roles and task in ("", tasks.get(roles[rank], only_task))
    ]
    window = last_window(streams, limit=limit, unfinished=True)
    for line in window.lines:
        name = tasks.get(roles[line.rank], only_task)
        yield TaskLine(line.at, name, retry, run.position, plain_text(line.data))
