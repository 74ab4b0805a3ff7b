"""A shared directory as it is when people submit under their own names."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from uuid import UUID

from engines.slurm.layout import SharedFolder
from engines.slurm.status.facts import launch_line
from tests.engines.slurm import cases

NOW = datetime(2026, 11, 25, tzinfo=UTC)
OTHER = UUID(int=7)
WRITTEN = {
    "launch": launch_line(cases.single(), NOW),
    "claim": "52",
    "attempt": "0",
    "batch.log": "a" * 700 + "end",
    "attempt-0/rank-0.started": "n1 1700000000",
    "environment.sh": "export TOKEN=1",
    "attempt-0/rank-0.log": "printed",
}


def shared(folder: Path) -> Path:
    """Create a shared directory with one run, and return it."""
    written(folder / "shared")
    (folder / "shared/changed").mkdir()
    return folder / "shared"


def written(place: Path, uid: UUID = cases.UID) -> Path:
    """Write the files of a run, and return its folder."""
    folder = place / SharedFolder("", uid).relative
    for name, text in WRITTEN.items():
        path = folder / "runs/1" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    (folder / "run").write_text("1\n")
    return folder / "runs/1"


def relative(uid: UUID = cases.UID) -> str:
    """Return the folder of a run, relative to the shared directory."""
    return f"{SharedFolder('', uid).relative}/runs/1"


@contextmanager
def turning(draft: Path, path: Path, *makings: Callable[[], None]) -> Iterator[None]:
    """Replace what is at ``path`` again and again while the block runs.

    Each of ``makings`` creates a ``draft``, which is then renamed to ``path``.
    """
    over = Event()

    def turn() -> None:
        while not over.is_set():
            for make in makings:
                make()
                draft.replace(path)

    thread = Thread(target=turn)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
