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
from engines.local.volumes.git import GIT_FETCHER as BY_GIT
from engines.local.volumes.s3 import S3_FETCHER as BY_S3
from spec.data.credential import KNOWN_HOSTS
from spec.values.variable import MASK

FETCHERS: dict[str, Fetcher] = {GIT: BY_GIT, S3: BY_S3}
PUBLIC_KEYS = {"User", KNOWN_HOSTS}  # keys that are not secret


@dataclass(frozen=True)
class Fetching:
    """Fetches the volumes of one attempt. ``write_log_line`` writes to the log of a rank."""

    errands: Errands
    plan: GangPlan
    write_log_line: Callable[[RankPlan, str], None]

    def run(self) -> str:
        """Fetch what is missing.

        Returns why something could not be fetched, or an empty string. The result means nothing if
        the workload was stopped meanwhile.
        """
        copies: dict[Volume, Path] = {}
        for rank in self.plan.ranks:
            for volume in rank.volumes:
                if volume.kind not in FETCHERS:
                    continue
                target = view.source_folder(volume, self.errands.folder, self.plan.run, rank.name)
                if not target.exists():
                    error = self._fetch_for_rank(rank, volume, target, copies.get(volume))
                    if error or self.errands.must_stop():
                        return error
                copies.setdefault(volume, target)
        return ""

    def _fetch_for_rank(
        self, rank: RankPlan, volume: Volume, target: Path, copy: Path | None
    ) -> str:
        """Fetch a volume, and write the result to the rank's log. Returns why it failed."""
        began = time.monotonic()
        error = self._fetch_or_copy(volume, target, copy)
        if error:
            line = error
        elif self.errands.must_stop():
            line = f"{volume.origin} was not fetched to its end."
        else:
            seconds = time.monotonic() - began
            line = f"Fetched {volume.origin} for {volume.place} ({seconds:.1f} s)."
        self.write_log_line(rank, line)
        return error

    def _fetch_or_copy(self, volume: Volume, target: Path, copy: Path | None) -> str:
        """Fetch a volume completely or not at all. Returns why it failed."""
        part = target.with_name(f"{target.name}.part")
        key_files = target.with_name(f"{target.name}.keys")
        for leftover in (part, key_files):  # of an interrupted try
            shutil.rmtree(leftover, ignore_errors=True)
        part.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if copy:  # each rank may modify its copy
            shutil.copytree(copy, part, symlinks=True)
        else:
            key_files.mkdir(mode=0o700)
            try:
                error = self._run_fetcher(volume, part, key_files)
            finally:
                shutil.rmtree(key_files, ignore_errors=True)
            if error:
                return error
        if not self.errands.must_stop():
            # Renamed only when complete: a target that exists is never fetched again.
            part.rename(target)
        return ""

    def _run_fetcher(self, volume: Volume, part: Path, key_files: Path) -> str:
        """Run the programs that fetch a volume to ``part``. Returns why one failed."""
        fetcher = FETCHERS[volume.kind]
        keys = self.plan.keys.get(volume.credential, {})
        variables = {**self.plan.base, **fetcher.variables(volume, keys, key_files)}
        log = part.with_suffix(".log")

        def describe_progress(output: str) -> str:
            progress = _hide_keys(keys, fetcher.describe_progress(output))
            beginning = f"Fetching {volume.origin} for {volume.place}"
            return f"{beginning}: {progress}." if progress else f"{beginning}."

        for argv in fetcher.commands(volume, part):
            code, output = self.errands.run(
                argv, log=log, variables=variables, describe_progress=describe_progress
            )
            log.unlink(missing_ok=True)
            if code:
                return _hide_keys(keys, fetcher.describe_failure(volume, output))
        return ""


def _hide_keys(keys: Keys, text: str) -> str:
    """Mask the values of a credential in a text, because servers may repeat what they were sent."""
    for key, value in keys.items():
        if key in PUBLIC_KEYS:
            continue
        for line in value.splitlines():
            if line:
                text = text.replace(line, MASK)
    return text
