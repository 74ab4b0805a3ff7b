"""Fetch repositories and buckets into volumes before the ranks start."""

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engines.local.records.plan import GangPlan, RankPlan
from engines.local.records.volume import GIT, S3, Volume
from engines.local.system.errand import Errands
from engines.local.volumes import view
from engines.local.volumes.fetcher import Fetcher, Keys
from engines.local.volumes.git import GIT as BY_GIT
from engines.local.volumes.s3 import S3 as BY_S3
from spec.data.credential import KNOWN_HOSTS
from spec.values.variable import MASK

FETCHERS: dict[str, Fetcher] = {GIT: BY_GIT, S3: BY_S3}
OPEN = {"User", KNOWN_HOSTS}  # keys that are not secret


@dataclass(frozen=True)
class Fetching:
    """The fetching of one attempt. ``log`` writes a line to a rank's output."""

    errands: Errands
    plan: GangPlan
    log: Callable[[RankPlan, str], None]

    def run(self) -> str:
        """Fetch what is missing; returns why something could not be fetched, or an empty string.
        Meaningless if the workload was stopped meanwhile."""
        copies: dict[Volume, Path] = {}
        for rank in self.plan.ranks:
            for volume in (it for it in rank.volumes if it.kind in FETCHERS):
                target = view.source(volume, self.errands.folder, self.plan.run, rank.name)
                if not target.exists():
                    began = time.monotonic()
                    said = self._bring(volume, target, copies.get(volume))
                    if said or self.errands.is_over():
                        self.log(rank, said or f"{volume.origin} was not fetched to its end.")
                        return said
                    seconds = time.monotonic() - began
                    self.log(rank, f"Fetched {volume.origin} for {volume.place} ({seconds:.1f} s).")
                copies.setdefault(volume, target)
        return ""

    def _bring(self, volume: Volume, target: Path, copy: Path | None) -> str:
        """Fetch a volume completely or not at all; remains of an interrupted try are removed."""
        part, scratch = (target.with_name(f"{target.name}.{it}") for it in ("part", "keys"))
        for left in (part, scratch):
            shutil.rmtree(left, ignore_errors=True)
        part.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if copy:  # each rank may modify its copy
            shutil.copytree(copy, part, symlinks=True)
        else:
            scratch.mkdir(mode=0o700)
            try:
                if said := self._fetch(volume, part, scratch):
                    return said
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
        if not self.errands.is_over():
            part.rename(target)
        return ""

    def _fetch(self, volume: Volume, part: Path, scratch: Path) -> str:
        fetcher = FETCHERS[volume.kind]
        keys = self.plan.keys.get(volume.credential, {})
        variables = {**self.plan.base, **fetcher.variables(volume, keys, scratch)}
        log = part.with_suffix(".log")

        def stage(said: str) -> str:
            far = _without(keys, fetcher.progress(said))
            return f"Fetching {volume.origin} for {volume.place}{': ' if far else ''}{far}."

        for argv in fetcher.steps(volume, part):
            code, said = self.errands.do(argv, log=log, variables=variables, stage=stage)
            log.unlink(missing_ok=True)
            if code:
                return _without(keys, fetcher.trouble(volume, said))
        return ""


def _without(keys: Keys, said: str) -> str:
    """Remove credentials from an answer, since servers may repeat what they were sent."""
    for key, value in keys.items():
        for line in value.splitlines() if key not in OPEN else ():
            said = said.replace(line, MASK) if line else said
    return said
