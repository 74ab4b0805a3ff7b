"""What each rank uses, once a second: measured by the supervisor, read by the engine."""

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from engines.local.layout import Json

#: A file of this many bytes is put aside for a new one; one old file is kept.
LARGEST = 4 * 1024 * 1024
BLOCK = 64 * 1024


@dataclass
class Sample:
    """``cpu`` in cores since the last sample, ``memory`` in bytes, over a whole process tree."""

    cpu: float
    memory: int


@dataclass
class Sampler:
    """Remembers processor time per process, to turn it into cores."""

    _times: dict[int, dict[int, float]] = field(default_factory=dict)
    _at: dict[int, float] = field(default_factory=dict)

    def measure(self, pids: Mapping[int, int], *, clock: float) -> dict[int, Sample]:
        """A sample for each rank (``pids``: rank to its first process) at ``clock`` seconds."""
        children = _children()
        return {rank: self._one(rank, pid, children, clock) for rank, pid in pids.items()}

    def _one(self, rank: int, pid: int, children: Mapping[int, list[int]], at: float) -> Sample:
        times, memory = dict[int, float](), 0
        for process in _tree(pid, children):
            with suppress(psutil.Error), process.oneshot():
                used = process.cpu_times()
                times[process.pid] = used.user + used.system
                memory += process.memory_info().rss
        before = self._times.get(rank, {})
        spent = sum(max(time - before.get(pid, 0.0), 0.0) for pid, time in times.items())
        passed = at - self._at.get(rank, at)
        self._times[rank], self._at[rank] = times, at
        return Sample(round(spent / passed, 3) if passed > 0 else 0.0, memory)


def private_memory(pid: int) -> int:
    """Bytes of the tree with each shared page counted once, where the system can tell."""
    total = 0
    for process in _tree(pid, _children()):
        with suppress(psutil.Error):
            full = process.memory_full_info()
            total += int(getattr(full, "pss", None) or full.rss)
    return total


def _children() -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            found[process.ppid()].append(process.pid)
    return found


def _tree(pid: int, children: Mapping[int, list[int]]) -> Iterator[psutil.Process]:
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        waiting += children.get(one, [])
        with suppress(psutil.Error):
            yield psutil.Process(one)


def append(path: Path, lines: list[Json]) -> None:
    """Add samples, oldest first; a full file becomes the old one."""
    if path.exists() and path.stat().st_size > LARGEST:
        path.replace(older(path))
    with path.open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def older(path: Path) -> Path:
    return path.with_suffix(".old.jsonl")


def read(path: Path, *, after: str) -> list[Json]:
    """Samples with an ``at`` later than ``after`` (ISO, UTC), oldest first."""
    found: list[Json] = []
    for file in (path, older(path)):
        for line in _backwards(file):
            with suppress(ValueError):  # the last line may be half written
                sample = json.loads(line)
                if sample["at"] <= after:
                    return found[::-1]
                found.append(sample)
    return found[::-1]


def _backwards(path: Path) -> Iterator[bytes]:
    """Lines from the last to the first, so that recent samples cost the same in a long file."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        end, rest = file.seek(0, os.SEEK_END), b""
        while end:
            start = max(end - BLOCK, 0)
            file.seek(start)
            first, *lines = (file.read(end - start) + rest).split(b"\n")
            yield from (line for line in reversed(lines) if line)
            end, rest = start, first
        if rest:
            yield rest
