"""Measures how much the volumes of a workload hold, and finds those that exceed their limits."""

import subprocess
import time
from collections.abc import Iterator
from typing import NamedTuple

from engines.local.records.layout import Folder
from engines.local.records.plan import GangPlan, RankPlan
from engines.local.system import marks
from engines.local.system.exit import format_size
from engines.local.volumes import view

COUNT = ("du", "-sk", "--")  # in KiB
EVERY = 60.0  # seconds between two measurements


class LimitedVolume(NamedTuple):
    """A volume of a rank at ``place``, in the folder ``path``. ``limit`` is in bytes."""

    place: str
    path: str
    limit: int


class VolumeSizes:
    """Measures volumes during one attempt, for its supervisor: at once, and then each minute.

    Another program counts, because a large folder takes time.
    """

    def __init__(self, folder: Folder, plan: GangPlan) -> None:
        self._mark = marks.mark_for(folder.path)
        self._volumes: dict[str, list[LimitedVolume]] = {
            rank.name: list(_limited_volumes(folder, plan.run, rank)) for rank in plan.ranks
        }
        self._sizes: dict[str, int] = {}  # bytes by path
        self._counter: subprocess.Popen[str] | None = None
        self._next_at = 0.0

    def tick(self) -> bool:
        """Begin a measurement that is due, or read the result of one. Returns whether there is a
        new result."""
        paths = {volume.path for volumes in self._volumes.values() for volume in volumes}
        if self._counter is None:
            if paths and time.monotonic() >= self._next_at:
                self._next_at = time.monotonic() + EVERY
                self._counter = self._start_counter(sorted(paths))
            return False
        if self._counter.poll() is None:
            return False
        output, _ = self._counter.communicate()
        self._counter = None
        for line in output.splitlines():
            blocks, _, path = line.partition("\t")
            self._sizes[path] = int(blocks) * 1024
        return True

    def describe(self, rank: str) -> str:
        """Return a line for people about what the volumes of a rank hold."""
        sentences = (
            f"{volume.place} holds {format_size(self._sizes[volume.path])} of "
            f"{format_size(volume.limit)}."
            for volume in self._volumes[rank]
            if volume.path in self._sizes
        )
        return " ".join(sentences)

    @property
    def excess(self) -> str:
        """A sentence about a volume that exceeds its limit; empty if none does."""
        for volumes in self._volumes.values():
            for volume in volumes:
                size = self._sizes.get(volume.path, 0)
                if size > volume.limit:
                    return (
                        f"The volume {volume.place} holds {format_size(size)}, more than its size "
                        f"of {format_size(volume.limit)}. Ask for more, or write less."
                    )
        return ""

    def _start_counter(self, paths: list[str]) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*COUNT, *paths],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # about files deleted meanwhile
            text=True,
            preexec_fn=lambda: marks.apply(self._mark),
        )


def _limited_volumes(folder: Folder, run: int, rank: RankPlan) -> Iterator[LimitedVolume]:
    """Yield the volumes of a rank that have a limit."""
    for volume in rank.volumes:
        source = view.source_folder(volume, folder, run, rank.name)
        limit = view.size_limit(volume, source)
        if limit is not None:
            yield LimitedVolume(volume.place, str(source), limit)
