"""The output of a workflow: the lines of all of its groups, merged by time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import merge

from workflows.models import GroupRun
from workloads.logs.reading.lines import read_backward
from workloads.logs.reading.merge import Reader, last_window
from workloads.logs.search import Hits
from workloads.logs.store import Stream, latest_streams
from workloads.logs.text import plain_text
from workloads.models import Workload

LAST_LINES = 1000
LONGEST_QUERY = 200  # characters
COLOURS = 8
SEARCH_SECONDS = 1.0  # after which what was found is cached, for the next search


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


@dataclass(frozen=True)
class LineChoice:
    """Which lines to return: the last ones, up to ``limit``; only those of a ``task``, of one of
    its starts, and with a ``text`` in any case, if these are given."""

    limit: int = LAST_LINES
    task: str = ""
    retry: int | None = None
    text: str = ""


def last_lines(runs: Sequence[GroupRun], choice: LineChoice = LineChoice()) -> list[TaskLine]:
    """Return the last chosen lines of all groups, the oldest first."""
    sources = [
        list(_lines_of(run, workload, start, choice))
        for run in runs
        for start, workload in run.workloads().items()
        if choice.retry is None or choice.retry == start
    ]
    merged = list(merge(*sources, key=lambda line: line.at))
    return merged[-choice.limit :]


def _lines_of(
    run: GroupRun, workload: Workload, retry: int, choice: LineChoice
) -> Iterator[TaskLine]:
    tasks = {it.role: it.name for it in run.definition.tasks}
    roles = {rank.rank: rank.role for rank in workload.ranks.all()}
    only_task = run.definition.tasks[0].name
    stored = latest_streams(workload.pk, workload.run, workload.attempt)
    streams = [
        stream
        for rank, stream in stored.items()
        if rank in roles and choice.task in ("", tasks.get(roles[rank], only_task))
    ]
    if not streams:
        return
    reader = _matching_lines(streams, choice.text) if choice.text else read_backward
    window = last_window(streams, limit=choice.limit, unfinished=True, lines=reader)
    for line in window.lines:
        name = tasks.get(roles[line.rank], only_task)
        yield TaskLine(line.at, name, retry, run.position, plain_text(line.data))


def _matching_lines(streams: Sequence[Stream], text: str) -> Reader:
    """Return what reads the lines with a text, the last one first, once all of them are found."""
    hits = Hits(streams, text, unfinished=True)
    while not hits.is_done:
        hits.search(SEARCH_SECONDS)
    return hits.backward
