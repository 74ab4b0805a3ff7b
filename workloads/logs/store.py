"""The store: one append-only file per run, attempt and rank, with an index beside it.

The index holds a record for each piece as it was collected: when it came, where it starts, how long
it is. It lets the lines of several ranks be merged by time. It is written after the piece, so an
interrupted append leaves a tail that the index does not cover, and the next append cuts it off.

Where an engine gives cursors, a third file says which log this is and from where to go on: two
slots that are written in turn, each with the number of its record of the index, before that record
is. So whatever is interrupted, one of them belongs to the last record.

Of a stream that grew too long the head is cut: its room is given back, all places stay as they are,
and a fourth file says where the first line begins that is left.
"""

import fcntl
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self
from uuid import UUID

from engines.shared.holes import free_head
from spec.values.quantities import readable
from workloads.models.history.traces import log_folder

RECORD = struct.Struct("<QQQ")  # nanoseconds since 1970, offset, length
SLOT = 320  # bytes
NANOSECONDS = 1_000_000_000
GRAIN = 64 * 1024  # bytes in which a line ends, where output is cut
WHY = "a workload keeps only so much (TRAINYARD_LOG_LIMIT_MB)."


@dataclass(frozen=True)
class Stream:
    """The output of one rank in one attempt of one run."""

    workload_id: UUID
    run: int
    attempt: int
    rank: int

    @property
    def path(self) -> Path:
        return log_folder(self.workload_id) / f"{self.run}-{self.attempt}-{self.rank}.log"

    @property
    def index(self) -> Path:
        return self.path.with_suffix(".index")

    @property
    def first(self) -> Path:
        return self.path.with_suffix(".first")

    @property
    def cursor(self) -> Path:
        return self.path.with_suffix(".cursor")


@dataclass(frozen=True)
class Piece:
    """Bytes that were collected together, at ``at`` nanoseconds since 1970."""

    at: int
    offset: int
    length: int

    @property
    def end(self) -> int:
        return self.offset + self.length

    @property
    def moment(self) -> datetime:
        return datetime.fromtimestamp(self.at / NANOSECONDS, UTC)


class Index:
    """The pieces of a stream, read as they are needed: an index may be long, too."""

    def __init__(self, stream: Stream) -> None:
        self._file: BinaryIO | None = None
        if stream.index.exists():
            self._file = stream.index.open("rb")
        self._last: Piece | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file:
            self._file.close()

    def __len__(self) -> int:
        """Whole records. A torn last one does not count."""
        return os.fstat(self._file.fileno()).st_size // RECORD.size if self._file else 0

    def __getitem__(self, number: int) -> Piece:
        assert self._file  # noqa: S101 -- an empty index has no items to ask for
        record = os.pread(self._file.fileno(), RECORD.size, number * RECORD.size)
        return Piece(*RECORD.unpack(record))

    def at(self, offset: int) -> datetime:
        """When the byte at ``offset`` was collected."""
        if self._last and self._last.offset <= offset < self._last.end:
            return self._last.moment
        low, high = 0, len(self)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self[middle].offset <= offset else (low, middle)
        self._last = self[low]
        return self._last.moment


def streams(workload_id: UUID) -> list[Stream]:
    """All there are, in the order of run, attempt and rank."""
    names = [path.stem.split("-") for path in log_folder(workload_id).glob("*.log")]
    return [Stream(workload_id, *numbers) for numbers in sorted(tuple(map(int, n)) for n in names)]


def lengths(workload_id: UUID) -> dict[Stream, int]:
    """Bytes of each stream that were not cut."""
    there = streams(workload_id)
    return {stream: stream.path.stat().st_size - first(stream) for stream in there}


def latest(workload_id: UUID, run: int, attempt: int) -> dict[int, Stream]:
    """Of each rank the stream of this attempt, or where it was not started in it, the one before.

    A restart of one rank is an attempt of the gang, in which the others may just have gone on.
    """
    there = streams(workload_id)
    return {one.rank: one for one in there if one.run == run and one.attempt <= attempt}


def size(stream: Stream) -> int:
    """Bytes that are whole: what the index covers."""
    last, _ = _last_piece(stream)
    return last.end if last else 0


def first(stream: Stream) -> int:
    """Where the first line begins that was not cut; 0 where none was."""
    try:
        return int(stream.first.read_text())
    except FileNotFoundError:
        return 0


def cut(stream: Stream, keep: int) -> bool:
    """Give back the room of all but about the last ``keep`` bytes; a line in its place says so.
    ``False`` where the file system cannot do that, or there is nothing to cut."""
    end = size(stream)
    tail = read(stream, end - keep, GRAIN)
    start = end - keep + tail.find(b"\n") + 1
    text = f"\n[Trainyard] {readable(start)} of older output was removed: {WHY}\n".encode()
    begin = start - len(text) + 1
    if begin <= first(stream) or not free_head(stream.path, 1):
        return False
    with stream.path.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        os.pwrite(file.fileno(), text, start - len(text))
        draft = stream.first.with_suffix(".draft")
        draft.write_text(str(begin))
        draft.replace(stream.first)  # from now on nobody reads what is before
        return free_head(stream.path, begin - 1)


def append(
    stream: Stream,
    data: bytes,
    *,
    offset: int | None = None,
    at: datetime | None = None,
    cursor: str = "",
) -> bool:
    """Add a piece. What an interrupted append left behind, here or in the index, is cut off.

    ``offset`` is where the piece belongs: ``False``, and nothing is written, when the stream ends
    elsewhere by now. Times never go back within a stream, whatever the clock does. ``cursor`` is
    kept with the piece: both are there, or neither.
    """
    stream.path.parent.mkdir(parents=True, exist_ok=True)
    with stream.path.open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # of two who collect, one after the other
        last, records = _last_piece(stream)
        end = last.end if last else 0
        if offset not in (None, end):
            return False
        moment = int((at or datetime.now(UTC)).timestamp() * NANOSECONDS)
        moment = max(moment, last.at) if last else moment
        _write(stream.path, end, data)
        if cursor:
            _keep_cursor(stream, records + 1, cursor)
        _write(stream.index, records * RECORD.size, RECORD.pack(moment, end, len(data)))
    return True


def cursor(stream: Stream) -> str:
    """The cursor of the last piece; empty where there is none.

    After a power failure it may be that of a piece that was lost: better a gap than a repetition.
    """
    try:
        text = stream.cursor.read_text()
    except FileNotFoundError:
        return ""
    _, records = _last_piece(stream)
    slots = [text[at : at + SLOT].strip().partition(" ") for at in range(0, len(text), SLOT)]
    by_number = {int(number): kept for number, _, kept in slots if number.isdigit()}
    return by_number.get(records) or (by_number[min(by_number)] if by_number else "")


@dataclass(frozen=True)
class StreamCopy:
    """A stream at one moment: ``size`` bytes of the log belong to this index and cursor."""

    log: BinaryIO
    size: int
    index: bytes
    cursor: bytes
    first: int


@contextmanager
def snapshot(stream: Stream) -> Iterator[StreamCopy]:
    """For a copy: what is added meanwhile is not in it, and waits for the small files only.
    ``FileNotFoundError`` where the stream was deleted."""
    with stream.path.open("rb") as log:
        fcntl.flock(log, fcntl.LOCK_SH)
        try:
            begin, (last, records) = first(stream), _last_piece(stream)
            kept = stream.cursor.read_bytes() if stream.cursor.exists() else b""
            index = stream.index.read_bytes()[: records * RECORD.size] if last else b""
        finally:
            fcntl.flock(log, fcntl.LOCK_UN)
        yield StreamCopy(log, last.end if last else 0, index, kept, begin)


def read(stream: Stream, offset: int, limit: int) -> bytes:
    """At most ``limit`` bytes from ``offset``: memory does not grow with the log."""
    length = min(limit, size(stream) - offset)
    if length <= 0:
        return b""
    with stream.path.open("rb") as file:
        file.seek(offset)
        return file.read(length)


def _write(path: Path, offset: int, data: bytes) -> None:
    """Put ``data`` at ``offset`` and nothing after it."""
    with path.open("r+b" if path.exists() else "w+b") as file:
        file.truncate(offset)
        file.seek(offset)
        file.write(data)


def _keep_cursor(stream: Stream, records: int, cursor: str) -> None:
    line = f"{records} {cursor}".ljust(SLOT - 1) + "\n"
    if len(line) > SLOT or not line.isascii():
        raise ValueError(f"This cursor is too long to be kept: {cursor}")
    with stream.cursor.open("r+b" if stream.cursor.exists() else "w+b") as file:
        file.seek(records % 2 * SLOT)
        file.write(line.encode())


def _last_piece(stream: Stream) -> tuple[Piece | None, int]:
    """The last piece that is there in full, and how many records lead to it.

    After a power failure the index may be ahead of the data.
    """
    try:
        there = stream.path.stat().st_size
    except FileNotFoundError:
        return None, 0
    with Index(stream) as index:
        for number in range(len(index) - 1, -1, -1):
            piece = index[number]
            if piece.end <= there:
                return piece, number + 1
    return None, 0
