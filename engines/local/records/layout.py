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
DUPLICATE_BYTES = 64 * 1024  # bytes of a log that may exist both here and where it is collected


def write_json(path: Path, document: Json, *, scratch: Path, durable: bool = False) -> None:
    """Replace a file in one step, readable by its owner only.

    ``scratch`` is a folder on the same disk that nobody watches. With ``durable``, the file also
    survives a power cut right after the call, which costs a few milliseconds.
    """
    # A draft and a rename: a reader sees the old file or the new one, never a part.
    draft = scratch / f".{path.name}.{os.getpid()}"
    with open(draft, "w", opener=_open_private) as file:
        json.dump(document, file)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    draft.replace(path)


def _open_private(path: str, flags: int) -> int:
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

    A caller that reads from ``offset`` has stored everything before it. If there is nothing new to
    read, this frees the disk space of that part.
    """
    try:
        with path.open("rb") as file:
            file.seek(offset)
            data = file.read(limit)
            allocated = os.fstat(file.fileno()).st_blocks * 512
    except FileNotFoundError:
        return b""
    if offset and not data and allocated > DUPLICATE_BYTES:
        free_head(path, offset)
    return data


@contextmanager
def hold_lock(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold an exclusive lock while the block runs. The kernel frees it if the process dies.

    Raises ``BlockingIOError`` if another process holds it and ``wait`` is false.
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
    def from_path(cls, path: Path) -> "Folder":
        """Return the folder object with this :attr:`path`."""
        return cls(path.parent.parent, path.name)

    @property
    def path(self) -> Path:
        return self.home / "workloads" / self.workload_id

    @property
    def state(self) -> Path:
        return states_folder(self.home) / f"{self.workload_id}.json"

    @property
    def launch(self) -> Path:
        return self.path / "launch.json"

    @property
    def supervisor_lock(self) -> Path:
        """The lock that a supervisor holds while it lives."""
        return self.path / "supervisor.lock"

    @property
    def bell(self) -> Path:
        """The FIFO that the supervisor listens on. One without a listener shows that the supervisor
        is dead."""
        return self.path / "bell"

    @property
    def change_lock(self) -> Path:
        """The lock for submitting, stopping and deleting. It is never removed, and workloads whose
        ids begin alike share one."""
        return self.home / "locks" / self.workload_id[:2]

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def supervisor_log(self) -> Path:
        return self.path / "supervisor.log"

    def rank_folder(self, rank_name: str) -> Path:
        return self.path / "ranks" / rank_name

    def run_folder(self, run: int) -> Path:
        return self.path / "runs" / str(run)

    def log(self, run: int, rank: int, attempt: int) -> Path:
        return self.run_folder(run) / "logs" / f"{rank}.{attempt}.log"

    def logs(self, run: int) -> list[tuple[int, int]]:
        """Return rank and attempt of each log of a run."""
        try:
            names = [path.stem for path in (self.run_folder(run) / "logs").iterdir()]
        except FileNotFoundError:
            return []
        numbers = (name.split(".") for name in names)
        return sorted((int(rank), int(attempt)) for rank, attempt in numbers)

    def secrets(self, run: int) -> Path:
        """The file with values of credentials, until the run ends."""
        return self.run_folder(run) / "secrets.json"

    def setup_script(self, run: int) -> Path:
        """The shell script that runs the setup and then the program of a rank."""
        return self.run_folder(run) / "setup.sh"

    def batch(self, run: int) -> Path:
        """The folder with a batch script, and what its programs need."""
        return self.run_folder(run) / "batch"

    @property
    def last_start(self) -> Path:
        """The file that names the process that was started last as supervisor. Its age is the time
        since that start."""
        return self.path / "starting"

    def revivals(self, run: int) -> Path:
        """A file with one byte for each dead supervisor that was replaced."""
        return self.run_folder(run) / "revivals"

    def stop_request(self, run: int) -> Path:
        return self.run_folder(run) / "stop"

    def usage(self, run: int) -> Path:
        return self.run_folder(run) / "usage.jsonl"

    def create_run(self, run: int) -> None:
        """Create the folders of a run. Only their owner may open them, because variables can
        contain secrets."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.checkpoints.mkdir(exist_ok=True)
        (self.run_folder(run) / "logs").mkdir(parents=True, exist_ok=True)
        states_folder(self.home).mkdir(exist_ok=True)
        with suppress(FileExistsError):
            os.mkfifo(self.bell, 0o600)

    def remove(self) -> None:
        self.state.unlink(missing_ok=True)
        shutil.rmtree(self.path, ignore_errors=True)
        if self.path.exists():  # a dying process wrote something
            shutil.rmtree(self.path)

    @property
    def is_supervised(self) -> bool:
        """Whether a supervisor listens."""
        bell = self._open_bell()
        if bell is None:
            return False
        os.close(bell)
        return True

    def ring(self) -> bool:
        """Wake the supervisor. Returns ``False`` if none is alive."""
        bell = self._open_bell()
        if bell is None:
            return False
        with suppress(BlockingIOError):  # the FIFO is full: the supervisor wakes up anyway
            os.write(bell, b"!")
        os.close(bell)
        return True

    def _open_bell(self) -> int | None:
        """Open the FIFO for writing; ``None`` if it has no listener."""
        try:
            return os.open(self.bell, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno in {errno.ENXIO, errno.ENOENT, errno.ENOTDIR}:
                return None
            raise


def states_folder(home: Path) -> Path:
    return home / "states"
