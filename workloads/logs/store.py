"""The store of output: an append-only file per run, attempt and rank, with an index.

The index has a record for each chunk: when it was collected, its offset, and its length. By it the
lines of several ranks are merged by time. It is written after the chunk, so an interrupted append
leaves a tail without a record, which the next append cuts off.

If the engine gives cursors, a third file identifies the log and where to continue: two slots that
are written alternately, each with the number of its index record, before that record. So whatever
is interrupted, one of them belongs to the last record.

If a stream becomes too long its head is cut: the space is freed, offsets stay the same, and a
fourth file says where the first remaining line starts.
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
from spec.values.quantities import format_bytes
from workloads.models.retention import log_folder

RECORD = struct.Struct("<QQQ")  # nanoseconds since 1970, offset, length
SLOT = 320  # bytes
NANOSECONDS = 1_000_000_000
LINE_BREAK_BYTES = 64 * 1024  # bytes within which a line break is looked for when cutting
CUT_REASON = "a workload keeps only so much (TRAINYARD_LOG_LIMIT_MB)."


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
    def index_path(self) -> Path:
        return self.path.with_suffix(".index")

    @property
    def first_path(self) -> Path:
        return self.path.with_suffix(".first")

    @property
    def cursor_path(self) -> Path:
        return self.path.with_suffix(".cursor")


@dataclass(frozen=True)
class Chunk:
    """A chunk that was collected ``at`` a time, in nanoseconds since 1970."""

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
    """The index of a stream, read on demand because it may be long."""

    def __init__(self, stream: Stream) -> None:
        self._file: BinaryIO | None = None
        if stream.index_path.exists():
            self._file = stream.index_path.open("rb")
        self._last: Chunk | None = None

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
        """The number of complete records; an incomplete last one does not count."""
        return os.fstat(self._file.fileno()).st_size // RECORD.size if self._file else 0

    def __getitem__(self, number: int) -> Chunk:
        assert self._file  # noqa: S101 -- an empty index has no items
        record = os.pread(self._file.fileno(), RECORD.size, number * RECORD.size)
        return Chunk(*RECORD.unpack(record))

    def time_at(self, offset: int) -> datetime:
        """The time at which the byte at ``offset`` was collected."""
        if self._last and self._last.offset <= offset < self._last.end:
            return self._last.moment
        low = 0
        high = len(self)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self[middle].offset <= offset else (low, middle)
        self._last = self[low]
        return self._last.moment


def streams(workload_id: UUID) -> list[Stream]:
    """All streams, ordered by run, attempt and rank."""
    names = [path.stem.split("-") for path in log_folder(workload_id).glob("*.log")]
    return [Stream(workload_id, *numbers) for numbers in sorted(tuple(map(int, n)) for n in names)]


def stream_lengths(workload_id: UUID) -> dict[Stream, int]:
    """Return the bytes of each stream, without those that were cut."""
    return {
        stream: stream.path.stat().st_size - first_offset(stream) for stream in streams(workload_id)
    }


def latest_streams(workload_id: UUID, run: int, attempt: int) -> dict[int, Stream]:
    """Return for each rank its stream in this attempt, or, if the rank was not started in it, its
    latest one before.

    A restart of one rank is an attempt of the gang, during which other ranks may simply continue.
    """
    ordered = streams(workload_id)  # by attempt, so that later ones replace earlier ones
    return {it.rank: it for it in ordered if it.run == run and it.attempt <= attempt}


def last_output_at(stream: Stream) -> datetime | None:
    """Return when the last output was collected; ``None`` if there is none."""
    last, _ = _last_chunk(stream)
    return last.moment if last else None


def size(stream: Stream) -> int:
    """Return the size in bytes, as far as the index covers it."""
    last, _ = _last_chunk(stream)
    return last.end if last else 0


def first_offset(stream: Stream) -> int:
    """Start of the first line that was not cut; 0 if nothing was."""
    try:
        return int(stream.first_path.read_text())
    except FileNotFoundError:
        return 0


def cut_head(stream: Stream, keep: int) -> bool:
    """Free the space of all but about the last ``keep`` bytes; a line says so in its place.
    ``False`` if the file system cannot do that, or there is nothing to cut."""
    end = size(stream)
    tail = read_output(stream, end - keep, LINE_BREAK_BYTES)
    start = end - keep + tail.find(b"\n") + 1
    text = (
        f"\n[Trainyard] {format_bytes(start)} of older output was removed: {CUT_REASON}\n".encode()
    )
    begin = start - len(text) + 1
    if begin <= first_offset(stream) or not free_head(stream.path, 1):
        return False
    with stream.path.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        os.pwrite(file.fileno(), text, start - len(text))
        draft = stream.first_path.with_suffix(".draft")
        draft.write_text(str(begin))
        draft.replace(stream.first_path)  # from now on nobody reads what was before
        return free_head(stream.path, begin - 1)


def append(
    stream: Stream,
    data: bytes,
    *,
    offset: int | None = None,
    at: datetime | None = None,
    cursor: str = "",
) -> bool:
    """Append a chunk, after removing what an interrupted append left behind.

    If the stream does not end at ``offset``, nothing is written and it returns ``False``. Times
    never go back within a stream, whatever the clock does. ``cursor`` is stored together with the
    chunk, or neither is.
    """
    stream.path.parent.mkdir(parents=True, exist_ok=True)
    with stream.path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # serializes concurrent collectors
        last, records = _last_chunk(stream)
        end = last.end if last else 0
        if offset not in (None, end):
            return False
        moment = int((at or datetime.now(UTC)).timestamp() * NANOSECONDS)
        moment = max(moment, last.at) if last else moment
        _write(stream.path, end, data)
        # The record comes last: without it neither the chunk nor the cursor counts.
        if cursor:
            _write_cursor(stream, records + 1, cursor)
        _write(stream.index_path, records * RECORD.size, RECORD.pack(moment, end, len(data)))
    return True


def read_cursor(stream: Stream) -> str:
    """Return the cursor after the last chunk; empty if there is none.

    After a power failure it may be that of a lost chunk: a gap is better than a repetition.
    """
    try:
        text = stream.cursor_path.read_text()
    except FileNotFoundError:
        return ""
    _, records = _last_chunk(stream)
    slots = [text[at : at + SLOT].strip().partition(" ") for at in range(0, len(text), SLOT)]
    cursors = {int(number): cursor for number, _, cursor in slots if number.isdigit()}
    if records in cursors:
        return cursors[records]
    return cursors[min(cursors)] if cursors else ""


@dataclass(frozen=True)
class StreamCopy:
    """A consistent copy of a stream: ``size`` bytes of the log belong to this index and cursor."""

    log: BinaryIO
    size: int
    index: bytes
    cursor: bytes
    first: int


@contextmanager
def open_snapshot(stream: Stream) -> Iterator[StreamCopy]:
    """Take a consistent copy. Appends only wait while the small files are read.
    ``FileNotFoundError`` if the stream was deleted."""
    with stream.path.open("rb") as log:
        fcntl.flock(log, fcntl.LOCK_SH)
        try:
            begin = first_offset(stream)
            (last, records) = _last_chunk(stream)
            cursor = stream.cursor_path.read_bytes() if stream.cursor_path.exists() else b""
            index = stream.index_path.read_bytes()[: records * RECORD.size] if last else b""
        finally:
            fcntl.flock(log, fcntl.LOCK_UN)
        yield StreamCopy(log, last.end if last else 0, index, cursor, begin)


def read_output(stream: Stream, offset: int, limit: int) -> bytes:
    """Read at most ``limit`` bytes from ``offset``, so that memory does not grow with the log."""
    length = min(limit, size(stream) - offset)
    if length <= 0:
        return b""
    with stream.path.open("rb") as file:
        file.seek(offset)
        return file.read(length)


def _write(path: Path, offset: int, data: bytes) -> None:
    """Write ``data`` at ``offset`` and truncate the file after it."""
    with path.open("r+b" if path.exists() else "w+b") as file:
        file.truncate(offset)
        file.seek(offset)
        file.write(data)


def _write_cursor(stream: Stream, records: int, cursor: str) -> None:
    line = f"{records} {cursor}".ljust(SLOT - 1) + "\n"
    if len(line) > SLOT or not line.isascii():
        raise ValueError(f"This cursor is too long to be kept: {cursor}")
    with stream.cursor_path.open("r+b" if stream.cursor_path.exists() else "w+b") as file:
        file.seek(records % 2 * SLOT)
        file.write(line.encode())


def _last_chunk(stream: Stream) -> tuple[Chunk | None, int]:
    """Return the last complete chunk, and the number of records up to it.

    After a power failure the index may be ahead of the data.
    """
    try:
        stored_bytes = stream.path.stat().st_size
    except FileNotFoundError:
        return None, 0
    with Index(stream) as index:
        for number in range(len(index) - 1, -1, -1):
            piece = index[number]
            if piece.end <= stored_bytes:
                return piece, number + 1
    return None, 0
