"""The data folder: a lock, so that only one Trainyard uses it, and the record of its processes."""

import fcntl
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

import psutil

from engines.shared.starts import is_same, start_of

# How long processes of a crashed Trainyard may take to end before they are killed, in seconds.
LEFTOVER_PATIENCE = 5.0

UNFINISHED = "restore.unfinished"  # exists while a restore replaces files


class Occupied(Exception):
    """Another Trainyard runs on this data folder."""


class RestoreInterrupted(Exception):
    """A restore was interrupted while it replaced files."""


def check_restore_finished(home: Path) -> None:
    if (home / UNFINISHED).exists():
        raise RestoreInterrupted(
            f"A restore into {home} was interrupted. Run it again to finish it:\n"
            f"  manage.py restore {(home / UNFINISHED).read_text().strip()} --replace"
        )


class Home:
    """``<home>/run``: a lock held while Trainyard runs, and a record of its processes."""

    def __init__(self, home: Path) -> None:
        self.path = home
        self.run = home / "run"
        self.run.mkdir(parents=True, exist_ok=True)
        self.record_path = self.run / "processes.json"
        self._lock: TextIO | None = None

    def lock(self) -> None:
        """Take the lock, or raise ``Occupied``. The system releases it when this process ends, even
        by a crash."""
        lock = (self.run / "lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            record = self.read()
            raise Occupied(
                f"Trainyard already runs on {self.path}, at {record.get('url', 'its address')} "
                f"(process {record.get('manager', 'unknown')}).\n"
                "Stop it with Ctrl-C where it was started, or start a second one next to it:\n"
                "  make run PORT=8001 TRAINYARD_HOME=.trainyard-2"
            ) from None
        self._lock = lock

    def release(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def read(self) -> dict[str, Any]:
        with suppress(OSError, ValueError):
            record = json.loads(self.record_path.read_text())
            if isinstance(record, dict):
                return record
        return {}

    def write(self, url: str, processes: dict[str, psutil.Process]) -> None:
        """Record the running processes, so that the next start can end what a killed manager left
        behind."""
        record = {
            "manager": os.getpid(),
            "url": url,
            "processes": {
                name: {"pid": process.pid, "started": start_of(process.pid)}
                for name, process in processes.items()
            },
        }
        draft = self.record_path.with_suffix(".new")
        draft.write_text(json.dumps(record))
        draft.replace(self.record_path)

    def end_leftovers(self) -> list[str]:
        """End the processes of a manager that was killed, and return their names. The caller must
        hold the lock."""
        leftovers = dict(self._leftovers())
        for process in leftovers.values():
            with suppress(psutil.NoSuchProcess):
                process.terminate()
        _, alive = psutil.wait_procs(list(leftovers.values()), timeout=LEFTOVER_PATIENCE)
        for process in alive:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(alive, timeout=LEFTOVER_PATIENCE)
        return list(leftovers)

    def _leftovers(self) -> list[tuple[str, psutil.Process]]:
        leftovers = []
        for name, entry in self.read().get("processes", {}).items():
            with suppress(psutil.Error, LookupError, TypeError):
                process = psutil.Process(entry["pid"])
                # Process ids are reused. Only id and start time together identify a process.
                if is_same(process.pid, str(entry["started"])):
                    leftovers.append((name, process))
        return leftovers
