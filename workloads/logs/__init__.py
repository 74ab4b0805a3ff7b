"""Our own store of ranks' output, and reading it: a single rank, or all merged by time."""

from workloads.logs.places import keep, late, note_late, place, resume
from workloads.logs.store import Stream, append, cut, first, latest, lengths, read, size, streams
from workloads.models.retention import remove_logs as remove

__all__ = [
    "Stream",
    "append",
    "cut",
    "first",
    "keep",
    "late",
    "latest",
    "lengths",
    "note_late",
    "place",
    "read",
    "remove",
    "resume",
    "size",
    "streams",
]
