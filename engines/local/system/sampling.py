"""Usage of ranks once a second: measured by the supervisor, read by the engine."""

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from engines.local.records.layout import Json
from engines.local.system import marks

#: A file of this many bytes is rotated; one old file is kept.
LARGEST = 4 * 1024 * 1024
BLOCK = 64 * 1024


@dataclass
class ProcessSample:
    """Usage of a process tree: ``cpu`` in cores since the last sample, ``memory`` in bytes."""

    cpu: float
    memory: int
    pids: frozenset[int] = frozenset()


@dataclass
class Sampler:
    """Remembers CPU time per process, to compute cores."""

    folder: Path  # of the workload
    _times: dict[int, dict[int, float]] = field(default_factory=dict)
    _at: dict[int, float] = field(default_factory=dict)

    def measure(self, pids: Mapping[int, int], *, clock: float) -> dict[int, ProcessSample]:
        """Take a sample of each rank (``pids`` maps ranks to first processes) at ``clock``
        seconds. One whose processes hold no memory any more has ended, and gets none."""
        trees = _trees(self.folder, pids)
        samples = {rank: self._one(rank, trees[rank], clock) for rank in pids}
        return {rank: sample for rank, sample in samples.items() if sample.memory}

    def _one(self, rank: int, tree: Iterable[psutil.Process], at: float) -> ProcessSample:
        times = dict[int, float]()
        memory = 0
        for process in tree:
            with suppress(psutil.Error), process.oneshot():
                used = process.cpu_times()
                times[process.pid] = used.user + used.system
                memory += process.memory_info().rss
        before = self._times.get(rank, {})
        spent = sum(max(time - before.get(pid, 0.0), 0.0) for pid, time in times.items())
        passed = at - self._at.get(rank, at)
        self._times[rank] = times
        self._at[rank] = at
        cores = round(spent / passed, 3) if passed > 0 else 0.0
        return ProcessSample(cores, memory, frozenset(times))


def private_memory(folder: Path, rank: int, pid: int) -> int:
    """Bytes of a process tree, with shared pages counted once if the system can tell."""
    total = 0
    for process in _trees(folder, {rank: pid})[rank]:
        with suppress(psutil.Error):
            full = process.memory_full_info()
            total += int(getattr(full, "pss", None) or full.rss)
    return total


def _trees(folder: Path, pids: Mapping[int, int]) -> dict[int, list[psutil.Process]]:
    """Processes of each rank: the first with all its descendants, and everything with its mark."""
    processes = {process.pid: process for process in psutil.process_iter()}
    children: dict[int, list[int]] = defaultdict(list)
    members: dict[int, list[int]] = {rank: [pid] for rank, pid in pids.items()}
    for pid, process in processes.items():
        rank = marks.rank_of(pid, folder)
        if rank in members:
            members[rank].append(pid)
        with suppress(psutil.Error):
            children[process.ppid()].append(pid)
    return {
        rank: [processes[pid] for pid in _descent(first, children) if pid in processes]
        for rank, first in members.items()
    }


def _descent(first: Iterable[int], children: Mapping[int, list[int]]) -> set[int]:
    """These processes and all their descendants."""
    tree = set[int]()
    waiting = list(first)
    while waiting:
        pid = waiting.pop()
        if pid not in tree:
            tree.add(pid)
            waiting += children.get(pid, [])
    return tree


def append(path: Path, lines: list[Json]) -> None:
    """Append samples, oldest first; a full file is rotated."""
    if path.exists() and path.stat().st_size > LARGEST:
        path.replace(older(path))
    with path.open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def older(path: Path) -> Path:
    return path.with_suffix(".old.jsonl")


def read(path: Path, *, after: str) -> list[Json]:
    """Samples with an ``at`` later than ``after`` (ISO, UTC), oldest first."""
    samples: list[Json] = []
    for file in (path, older(path)):
        for line in _backwards(file):
            with suppress(ValueError):  # the last line may be incomplete
                sample = json.loads(line)
                if sample["at"] <= after:
                    return samples[::-1]
                samples.append(sample)
    return samples[::-1]


def _backwards(path: Path) -> Iterator[bytes]:
    """Lines from the last to the first, so that recent samples cost the same in a long file."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        rest = b""
        while end:
            start = max(end - BLOCK, 0)
            file.seek(start)
            first, *lines = (file.read(end - start) + rest).split(b"\n")
            yield from (line for line in reversed(lines) if line)
            end = start
            rest = first
        if rest:
            yield rest
