"""Where the local engine keeps things on disk, and how it writes them.

home/states/<id>.json        what is observed; the only folder that is watched
home/workloads/<id>/         launch, lock, bell, checkpoints, ranks/, runs/<run>/
home/locks, home/ports       lock files, never removed
"""

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engines.shared.holes import free_head

Json = dict[str, Any]
TWICE = 64 * 1024  # bytes of a log that may be kept here and by whoever reads it


def write_json(path: Path, document: Json, *, scratch: Path, forever: bool = False) -> None:
    """Replace ``path`` in one step. ``scratch``: a folder on the same disk that nobody watches.

    ``forever``: a power cut right after must not take it back; that costs a few milliseconds.
    Nobody but the owner may read it.
    """
    draft = scratch / f".{path.name}.{os.getpid()}"
    with open(draft, "w", opener=_for_the_owner) as file:
        json.dump(document, file)
        if forever:
            file.flush()
            os.fsync(file.fileno())
    draft.replace(path)


def _for_the_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def read_json(path: Path) -> Json | None:
    """The document, or ``None`` where there is none (or none that was written to its end)."""
    try:
        document = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return document if isinstance(document, dict) else None


def take(path: Path, offset: int, limit: int) -> bytes:
    """A piece of output. Who asks from ``offset`` on keeps all that is before: here its room is
    given back, once that is worth it."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            data = file.read(limit)
            room = os.fstat(file.fileno()).st_blocks * 512
    except FileNotFoundError:
        return b""
    if offset and not data and room > TWICE:
        free_head(path, offset)
    return data


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold an exclusive lock across processes; the kernel frees it when the holder dies.

    ``BlockingIOError`` when it is taken and ``wait`` is false.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield


@dataclass(frozen=True)
class Folder:
    """One workload on disk."""

    home: Path
    workload_id: str

    @classmethod
    def of(cls, path: Path) -> "Folder":
        """The folder whose :attr:`path` this is."""
        return cls(path.parent.parent, path.name)

    @property
    def path(self) -> Path:
        return self.home / "workloads" / self.workload_id

    @property
    def state(self) -> Path:
        return states(self.home) / f"{self.workload_id}.json"

    @property
    def launch(self) -> Path:
        return self.path / "launch.json"

    @property
    def lock(self) -> Path:
        """Held by the supervisor as long as it lives."""
        return self.path / "supervisor.lock"

    @property
    def bell(self) -> Path:
        """A FIFO: the supervisor listens while it lives, so it is also the sign of its life."""
        return self.path / "bell"

    @property
    def door(self) -> Path:
        """Taken for the moment of a submit or delete. Shared by a few ids and never removed."""
        return self.home / "locks" / self.workload_id[:2]

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def supervisor_log(self) -> Path:
        return self.path / "supervisor.log"

    def work(self, rank_name: str) -> Path:
        return self.path / "ranks" / rank_name

    def run(self, run: int) -> Path:
        return self.path / "runs" / str(run)

    def log(self, run: int, rank: int, attempt: int) -> Path:
        return self.run(run) / "logs" / f"{rank}.{attempt}.log"

    def logs(self, run: int) -> list[tuple[int, int]]:
        """Rank and attempt of each that there is."""
        try:
            names = [path.stem for path in (self.run(run) / "logs").iterdir()]
        except FileNotFoundError:
            return []
        numbers = (name.split(".") for name in names)
        return sorted((int(rank), int(attempt)) for rank, attempt in numbers)

    def secrets(self, run: int) -> Path:
        """The values of credentials, until the run ends."""
        return self.run(run) / "secrets.json"

    def setup(self, run: int) -> Path:
        """The shell script that runs the setup and then the program of a rank."""
        return self.run(run) / "setup.sh"

    @property
    def starting(self) -> Path:
        """The process that was last started as its supervisor, and when that was."""
        return self.path / "starting"

    def revivals(self, run: int) -> Path:
        """A byte for each time that a dead supervisor was replaced."""
        return self.run(run) / "revivals"

    def stop_request(self, run: int) -> Path:
        return self.run(run) / "stop"

    def usage(self, run: int) -> Path:
        return self.run(run) / "usage.jsonl"

    def prepare(self, run: int) -> None:
        """Make the folders of a run. Only the owner may look: variables can hold secrets."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.checkpoints.mkdir(exist_ok=True)
        (self.run(run) / "logs").mkdir(parents=True, exist_ok=True)
        states(self.home).mkdir(exist_ok=True)
        with suppress(FileExistsError):
            os.mkfifo(self.bell, 0o600)

    def remove(self) -> None:
        self.state.unlink(missing_ok=True)
        shutil.rmtree(self.path, ignore_errors=True)
        if self.path.exists():  # a dying process wrote once more
            shutil.rmtree(self.path)

    @property
    def is_tended(self) -> bool:
        """Whether a supervisor listens."""
        bell = self._open_bell()
        if bell is not None:
            os.close(bell)
        return bell is not None

    def ring(self) -> bool:
        """Wake the supervisor; ``False`` when none is alive."""
        bell = self._open_bell()
        if bell is None:
            return False
        with suppress(BlockingIOError):  # full: it has been rung often enough
            os.write(bell, b"!")
        os.close(bell)
        return True

    def _open_bell(self) -> int | None:
        try:
            return os.open(self.bell, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno in {errno.ENXIO, errno.ENOENT, errno.ENOTDIR}:
                return None
            raise


def states(home: Path) -> Path:
    return home / "states"
