"""A local engine with a folder of its own, which leaves no process behind."""

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from engines.base import Handle, Launch, RankState
from engines.local.engine import LocalEngine
from engines.local.records.layout import Folder
from engines.local.system import processes
from engines.logs import Log
from spec.parts.scheduling import PriorityClass
from spec.phases import Reason
from tests.engines.contract import Rig, launch

IMAGES = {"known/image:*": ["{python}", "-c", "print('from the catalogue')"]}


class LocalRig(Rig):
    """The engine, and launches for it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.engine: LocalEngine = self.with_delay(restart_delay=0.05)

    def prints(self) -> Launch:
        return self.shell("echo hello")

    def fails(self) -> Launch:
        return self.shell("[ $RANK = 0 ] && sleep 60; exit 3")

    def endless(self) -> Launch:
        return self.shell("sleep 60")

    def asks_too_much(self) -> Launch:
        return self.shell("true", max_replicas=4, priority_class=PriorityClass.HIGH)

    def shell(self, script: str, **fields: Any) -> Launch:
        """Return a launch whose ranks run a shell script."""
        return launch(f"/bin/sh -c {shlex.quote(script)}", **fields)

    def python(self, script: str, **fields: Any) -> Launch:
        """Return a launch whose ranks run a Python script."""
        return launch(f"{sys.executable} -c {shlex.quote(script)}", **fields)

    def folder(self, launched: Launch) -> Folder:
        return Folder(self.home, str(launched.handle.workload_id))

    def log(self, launched: Launch, rank: int = 0, *, run: int = 1, attempt: int = 0) -> str:
        """Return what a rank has printed."""
        log = Log(run, rank, attempt)
        piece = self.engine.read_log(launched.handle, log, offset=0, cursor="", limit=10**6)
        return piece.data.decode()

    def with_delay(self, restart_delay: float) -> LocalEngine:
        """Return an engine with the same folder and another delay between attempts, in seconds."""
        return LocalEngine(self.home, images=IMAGES, virtual_gpus=4, restart_delay=restart_delay)

    def reason(self, launched: Launch) -> Reason | None:
        seen = self.engine.observe(launched.handle)
        return seen.reason if seen else None

    def attempt(self, launched: Launch) -> int | None:
        seen = self.engine.observe(launched.handle)
        return seen.attempt if seen else None

    def ranks(self, launched: Launch) -> tuple[RankState, ...]:
        seen = self.engine.observe(launched.handle)
        return seen.ranks if seen else ()

    def processes(self, launched: Launch) -> int:
        """Return how many processes of the workload are alive, including those that ranks
        started."""
        return len(list(processes.find_processes(self.folder(launched).path)))


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[LocalRig]:
    found = LocalRig(tmp_path / "engine")
    yield found
    for path in (found.home / "workloads").glob("*"):
        found.engine.delete(_handle(path))


def _handle(path: Path) -> Handle:
    return Handle(UUID(path.name), "", "")
