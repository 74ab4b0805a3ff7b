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
TWICE = 64 * 1024  # bytes of a log that may exist both here and where it is collected


def write_json(path: Path, document: Json, *, scratch: Path, forever: bool = False) -> None:
    """Replace a file in one step, readable by its owner only.

    ``scratch`` is a folder on the same disk that nobody watches. With ``forever``, the file also
    survives a power cut right after, which costs a few milliseconds.
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
    """Return the document in a file; ``None`` if there is none, or it is incomplete."""
    try:
        document = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return document if isinstance(document, dict) else None


def read_log_piece(path: Path, offset: int, limit: int) -> bytes:
    """Return a piece of a log, at most ``limit`` bytes from ``offset``.

    Whoever asks from ``offset`` has stored everything before it. So its disk space is freed here,
    once that is worth the effort.
    """
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
    """Hold an exclusive lock while the block runs; the kernel frees it when the process dies.

    Raises ``BlockingIOError`` if it is taken and ``wait`` is false.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield


@dataclass(frozen=True)
class Folder:
    """The files of one workload."""

    home: Path
    workload_id: str

    @classmethod
    def of(cls, path: Path) -> "Folder":
        """Return the folder object with this :attr:`path`."""
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
        """The lock that a supervisor holds while it lives."""
        return self.path / "supervisor.lock"

    @property
    def bell(self) -> Path:
        """A FIFO that the supervisor listens on while it lives, so that it also shows whether it
        lives."""
        return self.path / "bell"

    @property
    def door(self) -> Path:
        """A lock that is held during a submit or delete. A few workloads share one, and it is never
        removed."""
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
        """Return rank and attempt of each log of a run."""
        try:
            names = [path.stem for path in (self.run(run) / "logs").iterdir()]
        except FileNotFoundError:
            return []
        numbers = (name.split(".") for name in names)
        return sorted((int(rank), int(attempt)) for rank, attempt in numbers)

    def secrets(self, run: int) -> Path:
        """The file with values of credentials, until the run ends."""
        return self.run(run) / "secrets.json"

    def setup(self, run: int) -> Path:
        """The shell script that runs the setup and then the program of a rank."""
        return self.run(run) / "setup.sh"

    @property
    def starting(self) -> Path:
        """The file that names the process last started as supervisor. Its age is the time since
        then."""
        return self.path / "starting"

    def revivals(self, run: int) -> Path:
        """A file with one byte for each dead supervisor that was replaced."""
        return self.run(run) / "revivals"

    def stop_request(self, run: int) -> Path:
        return self.run(run) / "stop"

    def usage(self, run: int) -> Path:
        return self.run(run) / "usage.jsonl"

    def prepare(self, run: int) -> None:
        """Create the folders of a run. Only the owner may look into them, because variables can
        hold secrets."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.checkpoints.mkdir(exist_ok=True)
        (self.run(run) / "logs").mkdir(parents=True, exist_ok=True)
        states(self.home).mkdir(exist_ok=True)
        with suppress(FileExistsError):
            os.mkfifo(self.bell, 0o600)

    def remove(self) -> None:
        self.state.unlink(missing_ok=True)
        shutil.rmtree(self.path, ignore_errors=True)
        if self.path.exists():  # a dying process wrote something
            shutil.rmtree(self.path)

    @property
    def is_tended(self) -> bool:
        """Whether a supervisor listens."""
        bell = self._open_bell()
        if bell is not None:
            os.close(bell)
        return bell is not None

    def ring(self) -> bool:
        """Wake the supervisor. Returns ``False`` if none is alive."""
        bell = self._open_bell()
        if bell is None:
            return False
        with suppress(BlockingIOError):  # full: it will wake up anyway
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
