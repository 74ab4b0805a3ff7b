"""What is brought into volumes before the ranks start: Git repositories, by the git program."""

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engines.local.errand import Errands
from engines.local.plan import GangPlan
from engines.local.volumes import view
from engines.local.volumes.volume import GIT, Volume

STAGE = re.compile(r"([A-Z][a-z ]+):\s+(\d+)% ")
#: Nobody is there to be asked for a password; a host that is met for the first time is believed.
SSH = "ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new"
ALONE = {"GIT_TERMINAL_PROMPT": "0", "GIT_SSH_COMMAND": SSH}


@dataclass(frozen=True)
class Fetching:
    """One run's."""

    errands: Errands
    plan: GangPlan

    def run(self) -> str:
        """Fetch what is not there. Why something could not be fetched, or nothing; when it is over,
        the words mean nothing."""
        copies: dict[Volume, Path] = {}
        for rank in self.plan.ranks:
            for volume in (it for it in rank.volumes if it.kind == GIT):
                target = view.source(volume, self.errands.folder, self.plan.run, rank.name)
                if not target.exists():
                    said = self._bring(volume, target, copies.get(volume))
                    if said or self.errands.is_over():
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
        if not self.errands.is_over():
            part.rename(target)
        return ""

    def _do(self, volume: Volume, argv: Sequence[str], log: Path) -> str:
        """Run one program to its end. What it says is kept in ``log``."""
        code, said = self.errands.do(
            argv,
            log=log,
            variables={**self.plan.base, **ALONE, "LC_ALL": "C"},
            stage=lambda said: f"Fetching {volume.origin} for {volume.place}{_progress(said)}.",
        )
        return _trouble(volume, said) if code else ""


def _steps(volume: Volume, target: Path) -> Iterator[list[str]]:
    branch = ["--branch", volume.branch] if volume.branch else []
    yield ["git", "clone", "--progress", *branch, "--", volume.origin, str(target)]
    if volume.revision:
        quiet = ["-c", "advice.detachedHead=false"]
        yield ["git", "-C", str(target), *quiet, "checkout", "--quiet", volume.revision]


def _progress(said: str) -> str:
    stages = STAGE.findall(said)
    return f": {stages[-1][0].lower()} {stages[-1][1]} %" if stages else ""


def _trouble(volume: Volume, said: str) -> str:
    lines = re.split(r"[\r\n]+", said.strip())
    grave = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
    at = f" at {volume.revision or volume.branch}" if volume.revision or volume.branch else ""
    return (
        f"The repository {volume.origin}{at} could not be fetched for {volume.place}. Check its "
        f"address, and the branch or revision. git: {' '.join(grave[-3:]).rstrip('.')}."
    )
