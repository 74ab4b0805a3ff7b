"""Measures how much the volumes of a workload hold, and which one exceeds its limit."""

import subprocess
import time
from pathlib import Path

from engines.local.records.layout import Folder
from engines.local.records.plan import GangPlan, RankPlan
from engines.local.system import marks
from engines.local.system.exit import size
from engines.local.volumes import view

COUNT = ("du", "-sk", "--")  # in KiB
EVERY = 60.0  # seconds between two measurements


class Sizes:
    """The measurements of one attempt, for its supervisor.

    The first one begins at once. Another program counts, because a large folder takes time.
    """

    def __init__(self, folder: Folder, plan: GangPlan) -> None:
        self._mark = marks.number(folder.path)
        self._folders: dict[str, dict[str, tuple[Path, int]]] = {
            rank.name: _limited(folder, plan.run, rank) for rank in plan.ranks
        }
        self._held: dict[str, int] = {}
        self._counting: subprocess.Popen[str] | None = None
        self._next = 0.0

    def tick(self) -> bool:
        """Begin a measurement that is due, or take the result of one. Returns whether there is a
        new result."""
        paths = {str(path) for its in self._folders.values() for path, _ in its.values()}
        if self._counting is None:
            if paths and time.monotonic() >= self._next:
                self._next = time.monotonic() + EVERY
                self._counting = self._count(sorted(paths))
            return False
        if self._counting.poll() is None:
            return False
        said, _ = self._counting.communicate()
        self._counting = None
        for line in said.splitlines():
            blocks, _, path = line.partition("\t")
            self._held[path] = int(blocks) * 1024
        return True

    def held(self, rank: str) -> str:
        """Return a line for people about what the volumes of a rank hold."""
        said = (
            f"{place} holds {size(self._held[str(path)])} of {size(limit)}."
            for place, (path, limit) in self._folders[rank].items()
            if str(path) in self._held
        )
        return " ".join(said)

    @property
    def trouble(self) -> str:
        """Which volume exceeds its limit, in words; empty if none does."""
        for its in self._folders.values():
            for place, (path, limit) in its.items():
                held = self._held.get(str(path), 0)
                if held > limit:
                    what = f"{size(held)}, more than its size of {size(limit)}"
                    return f"The volume {place} holds {what}. Ask for more, or write less."
        return ""

    def _count(self, paths: list[str]) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*COUNT, *paths],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # about files deleted meanwhile
            text=True,
            preexec_fn=lambda: marks.put_on(self._mark),
        )


def _limited(folder: Folder, run: int, rank: RankPlan) -> dict[str, tuple[Path, int]]:
    sources = {it: view.source(it, folder, run, rank.name) for it in rank.volumes}
    limits = {it: view.limit(it, source) for it, source in sources.items()}
    return {
        it.place: (source, limit)
        for it, source in sources.items()
        if (limit := limits[it]) is not None
    }
