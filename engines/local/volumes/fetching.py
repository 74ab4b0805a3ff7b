"""What is brought into volumes before the ranks start: Git repositories, by the git program."""

import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engines.local import marks, processes
from engines.local.layout import Folder
from engines.local.plan import GangPlan
from engines.local.spawning import Process
from engines.local.volumes import view
from engines.local.volumes.volume import GIT, Volume

LOOK = 0.5  # seconds between two looks at how far it is
STAGE = re.compile(r"([A-Z][a-z ]+):\s+(\d+)% ")
#: Nobody is there to be asked for a password; a host that is met for the first time is believed.
SSH = "ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new"
ALONE = {"GIT_TERMINAL_PROMPT": "0", "GIT_SSH_COMMAND": SSH}


@dataclass(frozen=True)
class Fetching:
    """One run's. ``tell`` shows people how far it is, ``wait`` returns after so many seconds or
    when something happens, ``is_over`` says that nobody wants it any more."""

    folder: Folder
    plan: GangPlan
    tell: Callable[[str], None]
    wait: Callable[[float], None]
    is_over: Callable[[], bool]

    def run(self) -> str:
        """Fetch what is not there. Why something could not be fetched, or nothing; when it is over,
        the words mean nothing."""
        copies: dict[Volume, Path] = {}
        for rank in self.plan.ranks:
            for volume in (it for it in rank.volumes if it.kind == GIT):
                target = view.source(volume, self.folder, self.plan.run, rank.name)
                if not target.exists():
                    said = self._bring(volume, target, copies.get(volume))
                    if said or self.is_over():
                        return said
                copies.setdefault(volume, target)
        return ""

    def _bring(self, volume: Volume, target: Path, copy: Path | None) -> str:
        """All of it or nothing: what a try left that was cut short is removed."""
        part = target.with_name(f"{target.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        part.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if copy:  # each rank may change its own
            shutil.copytree(copy, part, symlinks=True)
        else:
            for argv in _steps(volume, part):
                if said := self._do(volume, argv, part.with_suffix(".log")):
                    return said
        if not self.is_over():
            part.rename(target)
        return ""

    def _do(self, volume: Volume, argv: Sequence[str], log: Path) -> str:
        """Run one program to its end. What it says is kept in ``log``."""
        mark = marks.number(self.folder.path)
        with log.open("wb") as output:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**self.plan.base, **ALONE, "LC_ALL": "C"},
                start_new_session=True,
                preexec_fn=lambda: marks.put_on(mark),
            )
        try:
            self._follow(volume, process, log)
        finally:
            processes.signal_group(process.pid, signal.SIGKILL)
            process.wait()
        return _trouble(volume, log) if process.returncode else ""

    def _follow(self, volume: Volume, process: Process, log: Path) -> None:
        shown = ""
        while process.poll() is None and not self.is_over():
            stage = f"Fetching {volume.origin} for {volume.place}{_progress(log)}."
            if stage != shown:
                shown = stage
                self.tell(stage)
            self.wait(LOOK)


def _steps(volume: Volume, target: Path) -> Iterator[list[str]]:
    branch = ["--branch", volume.branch] if volume.branch else []
    yield ["git", "clone", "--progress", *branch, "--", volume.origin, str(target)]
    if volume.revision:
        quiet = ["-c", "advice.detachedHead=false"]
        yield ["git", "-C", str(target), *quiet, "checkout", "--quiet", volume.revision]


def _progress(log: Path) -> str:
    stages = STAGE.findall(log.read_text(errors="replace"))
    return f": {stages[-1][0].lower()} {stages[-1][1]} %" if stages else ""


def _trouble(volume: Volume, log: Path) -> str:
    lines = re.split(r"[\r\n]+", log.read_text(errors="replace").strip())
    grave = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
    at = f" at {volume.revision or volume.branch}" if volume.revision or volume.branch else ""
    return (
        f"The repository {volume.origin}{at} could not be fetched for {volume.place}. Check its "
        f"address, and the branch or revision. git: {' '.join(grave[-3:]).rstrip('.')}."
    )
