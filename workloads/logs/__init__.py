"""Our own store of what ranks print, and reading it: a rank alone, or all of them by time."""

from workloads.logs.store import Stream, append, folder, read, remove, size, streams

__all__ = ["Stream", "append", "folder", "read", "remove", "size", "streams"]
