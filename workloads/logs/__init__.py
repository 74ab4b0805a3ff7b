"""Our own store of what ranks print, and reading it: a rank alone, or all of them by time."""

from workloads.logs.places import keep, late, note_late, place, resume
from workloads.logs.store import Stream, append, folder, latest, read, remove, size, streams

__all__ = [
    "Stream",
    "append",
    "folder",
    "keep",
    "late",
    "latest",
    "note_late",
    "place",
    "read",
    "remove",
    "resume",
    "size",
    "streams",
]
