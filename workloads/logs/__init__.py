"""Our own store of ranks' output, and reading it: a single rank, or all merged by time."""

from workloads.logs.places import (
    append_output,
    engine_cursor,
    missing_reason,
    set_missing_reason,
    stream_of_log,
)
from workloads.logs.store import (
    Stream,
    append,
    cut_head,
    first_offset,
    last_output_at,
    latest_streams,
    read_output,
    size,
    stream_lengths,
    streams,
)
from workloads.models.retention import remove_logs as remove

__all__ = [
    "Stream",
    "append",
    "append_output",
    "cut_head",
    "engine_cursor",
    "first_offset",
    "last_output_at",
    "latest_streams",
    "missing_reason",
    "read_output",
    "remove",
    "set_missing_reason",
    "size",
    "stream_lengths",
    "stream_of_log",
    "streams",
]
