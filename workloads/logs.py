"""Our own store of what ranks print: one append-only file per run, attempt and rank, with an index.

The index holds a record for each piece as it was collected: when it came, where it starts, how long
it is. It lets the lines of several ranks be merged by time, and it is written after the piece, so
that a torn write is cut off by the next append.
"""

import shutil
import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from django.conf import settings

RECORD = struct.Struct("<QQQ")  # nanoseconds since 1970, offset, length


@dataclass(frozen=True)
class Stream:
    """The output of one rank in one attempt of one run."""

    workload_id: UUID
    run: int
    attempt: int
    rank: int

    @property
    def path(self) -> Path:
        return folder(self.workload_id) / f"{self.run}-{self.attempt}-{self.rank}.log"

    @property
    def index(self) -> Path:
        return self.path.with_suffix(".index")


@dataclass(frozen=True)
class Piece:
    """Bytes that were collected together, at ``at``."""

    at: datetime
    offset: int
    length: int


def folder(workload_id: UUID) -> Path:
    return Path(settings.LOG_STORE) / str(workload_id)


def remove(workload_id: UUID) -> None:
    shutil.rmtree(folder(workload_id), ignore_errors=True)


def streams(workload_id: UUID) -> list[Stream]:
    """All there are, in the order of run, attempt and rank."""
    names = [path.stem.split("-") for path in folder(workload_id).glob("*.log")]
    return [Stream(workload_id, *numbers) for numbers in sorted(tuple(map(int, n)) for n in names)]


def size(stream: Stream) -> int:
    """Bytes that are whole: what the index covers."""
    last = _last_piece(stream)
    return last.offset + last.length if last else 0


def append(stream: Stream, data: bytes, *, at: datetime | None = None) -> None:
    """Add a piece. A tail that an interrupted append left behind is cut off first."""
    stream.path.parent.mkdir(parents=True, exist_ok=True)
    offset = size(stream)
    with stream.path.open("r+b" if stream.path.exists() else "w+b") as file:
        file.truncate(offset)
        file.seek(offset)
        file.write(data)
    moment = int((at or datetime.now(UTC)).timestamp() * 1_000_000_000)
    with stream.index.open("ab") as file:
        file.write(RECORD.pack(moment, offset, len(data)))


def read(stream: Stream, offset: int, limit: int) -> bytes:
    """At most ``limit`` bytes from ``offset``: memory does not grow with the log."""
    if not stream.path.exists():
        return b""
    with stream.path.open("rb") as file:
        file.seek(offset)
        return file.read(min(limit, max(size(stream) - offset, 0)))


def pieces(stream: Stream) -> Iterator[Piece]:
    """The index, oldest first. A torn last record is ignored."""
    if not stream.index.exists():
        return
    with stream.index.open("rb") as file:
        while len(record := file.read(RECORD.size)) == RECORD.size:
            yield _piece(record)


def time_of(found: list[Piece], offset: int) -> datetime:
    """When the byte at ``offset`` was collected. ``found`` must not be empty."""
    at = bisect_right(found, offset, key=lambda piece: piece.offset) - 1
    return found[max(at, 0)].at


def _last_piece(stream: Stream) -> Piece | None:
    if not stream.index.exists():
        return None
    whole = stream.index.stat().st_size // RECORD.size
    if not whole:
        return None
    with stream.index.open("rb") as file:
        file.seek((whole - 1) * RECORD.size)
        return _piece(file.read(RECORD.size))


def _piece(record: bytes) -> Piece:
    moment, offset, length = RECORD.unpack(record)
    return Piece(datetime.fromtimestamp(moment / 1_000_000_000, UTC), offset, length)
