"""Map an engine's logs to streams of our store, and count the attempts of ranks.

An engine may identify a log by what was started, such as a pod, which another may replace. Each
start of each of these is an attempt of its rank, numbered in the order of appearance. The store
remembers the numbers, so they never go back, whatever is restarted or gone.
"""

from functools import lru_cache
from uuid import UUID

from engines.logs import Log
from workloads.logs.store import Stream, append, read_cursor, streams
from workloads.models.retention import log_folder

MISSING_REASON_FILE = "late"  # name of a file


@lru_cache(maxsize=16_384)
def stream_of_log(workload_id: UUID, log: Log) -> Stream:
    """Return the stream of a log. The first call reserves it."""
    if not log.origin:
        return Stream(workload_id, log.run, log.start, log.rank)
    # If another process reserves the stream first, look again: the number is taken then.
    while True:
        stream, is_new = _find_stream(workload_id, log)
        if not is_new or append(stream, b"", offset=0, cursor=f"{log.origin} {log.start}"):
            return stream


def engine_cursor(stream: Stream) -> str:
    """Return the engine's cursor after the stored output."""
    return read_cursor(stream).partition(" ")[2].partition(" ")[2]


def append_output(stream: Stream, log: Log, data: bytes, *, offset: int, cursor: str) -> bool:
    """Append a chunk with the cursor after it; ``False`` if another process was first."""
    text = f"{log.origin} {log.start} {cursor}" if log.origin else ""
    return append(stream, data, offset=offset, cursor=text)


def set_missing_reason(workload_id: UUID, why: str) -> bool:
    """Store why output is missing; empty if it is not. Return whether that changed."""
    if why == missing_reason(workload_id):
        return False
    path = log_folder(workload_id) / MISSING_REASON_FILE
    if why:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(why)
    else:
        path.unlink(missing_ok=True)
    return True


def missing_reason(workload_id: UUID) -> str:
    try:
        return (log_folder(workload_id) / MISSING_REASON_FILE).read_text()
    except FileNotFoundError:
        return ""


def _find_stream(workload_id: UUID, log: Log) -> tuple[Stream, bool]:
    """Return the stream of a log, and whether it is new. An unknown origin gets the next number."""
    last_attempt = -1
    for stream in streams(workload_id):
        if (stream.run, stream.rank) == (log.run, log.rank):
            last_attempt = max(last_attempt, stream.attempt)
            origin, start, *_ = [*read_cursor(stream).split(" "), "", ""]
            if origin == log.origin:
                attempt = stream.attempt + log.start - int(start)
                found = Stream(workload_id, log.run, attempt, log.rank)
                return found, not found.path.exists()
    attempt = last_attempt + 1 + log.start
    return Stream(workload_id, log.run, attempt, log.rank), True
