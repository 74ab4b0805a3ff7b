"""The usage of ranks, once a second. The supervisor measures it, and the engine reads it."""

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
    """The usage of a rank: ``cpu`` in cores since the last sample, ``memory`` in bytes."""

    cpu: float
    memory: int
    pids: frozenset[int] = frozenset()


@dataclass
class Sampler:
    """Measures ranks. It remembers the CPU time of each process, to compute cores from it."""

    folder: Path  # of the workload
    _times: dict[int, dict[int, float]] = field(default_factory=dict)
    _measured_at: dict[int, float] = field(default_factory=dict)

    def measure(self, pids: Mapping[int, int], *, clock: float) -> dict[int, ProcessSample]:
        """Take a sample of each rank at ``clock`` seconds. ``pids`` maps ranks to their first
        processes.

        A rank whose processes hold no memory has ended, and gets no sample.
        """
        processes = _rank_processes(self.folder, pids)
        samples = {rank: self._measure_rank(rank, processes[rank], clock) for rank in pids}
        return {rank: sample for rank, sample in samples.items() if sample.memory}

    def _measure_rank(
        self, rank: int, processes: Iterable[psutil.Process], clock: float
    ) -> ProcessSample:
        cpu_times = dict[int, float]()
        memory = 0
        for process in processes:
            with suppress(psutil.Error), process.oneshot():
                times = process.cpu_times()
                cpu_times[process.pid] = times.user + times.system
                memory += process.memory_info().rss
        earlier = self._times.get(rank, {})
        cpu_seconds = sum(
            max(seconds - earlier.get(pid, 0.0), 0.0) for pid, seconds in cpu_times.items()
        )
        elapsed = clock - self._measured_at.get(rank, clock)
        self._times[rank] = cpu_times
        self._measured_at[rank] = clock
        cores = round(cpu_seconds / elapsed, 3) if elapsed > 0 else 0.0
        return ProcessSample(cores, memory, frozenset(cpu_times))


def private_memory(folder: Path, rank: int, pid: int) -> int:
    """Return the bytes that a rank uses. Shared pages count once, if the system can tell."""
    total = 0
    for process in _rank_processes(folder, {rank: pid})[rank]:
        with suppress(psutil.Error):
            memory = process.memory_full_info()
            total += int(getattr(memory, "pss", None) or memory.rss)
    return total


def _rank_processes(folder: Path, pids: Mapping[int, int]) -> dict[int, list[psutil.Process]]:
    """Return the processes of each rank: all with the rank's mark, the first process, and all
    descendants of these."""
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
        rank: [processes[pid] for pid in _with_descendants(roots, children) if pid in processes]
        for rank, roots in members.items()
    }


def _with_descendants(roots: Iterable[int], children: Mapping[int, list[int]]) -> set[int]:
    """Return these processes and all their descendants."""
    found = set[int]()
    pending = list(roots)
    while pending:
        pid = pending.pop()
        if pid not in found:
            found.add(pid)
            pending += children.get(pid, [])
    return found


def append_samples(path: Path, lines: list[Json]) -> None:
    """Append samples, oldest first; a full file is rotated."""
    if path.exists() and path.stat().st_size > LARGEST:
        path.replace(rotated_path(path))
    with path.open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def rotated_path(path: Path) -> Path:
    return path.with_suffix(".old.jsonl")


def read_samples(path: Path, *, after: str) -> list[Json]:
    """Return the samples with an ``at`` later than ``after`` (ISO, UTC), oldest first."""
    samples: list[Json] = []
    for file in (path, rotated_path(path)):
        for line in _lines_backwards(file):
            with suppress(ValueError):  # the last line may be incomplete
                sample = json.loads(line)
                if sample["at"] <= after:
                    return samples[::-1]
                samples.append(sample)
    return samples[::-1]


def _lines_backwards(path: Path) -> Iterator[bytes]:
    """Yield lines from the last to the first, so that recent samples are found quickly in a long
    file."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        rest = b""  # the end of a line that begins in an earlier block
        while end:
            start = max(end - BLOCK, 0)
            file.seek(start)
            first, *lines = (file.read(end - start) + rest).split(b"\n")
            yield from (line for line in reversed(lines) if line)
            end = start
            rest = first
        if rest:
            yield rest
