"""Whose a process is: a mark that it inherits and keeps, wherever it goes.

A process can leave its group, its session and its parent, and be started with no variables at all;
it keeps its resource limits. Linux hands the limit on file locks down and has not looked at it
since 2.4.25, so its value says to which rank of which workload a process belongs. Where a number
cannot be put there (macOS, some sandboxes), the variable ``MARKER`` is all there is.
"""

import resource
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

LOCKS = 10  # RLIMIT_LOCKS, which Python's module does not name
#: Above any limit that somebody might have meant.
BASE = 1 << 61
RANKS = 1 << 12
#: What runs beside the ranks: a terminal.
BESIDE = RANKS - 1


def number(folder: Path | str, rank: int = BESIDE) -> int:
    """The mark of one rank's processes; ``folder`` is that of the workload."""
    digest = blake2b(str(folder).encode(), digest_size=6).digest()
    return BASE + int.from_bytes(digest) * RANKS + min(rank, BESIDE)


def put_on(mark: int) -> None:
    """Mark this process, and with it all that it starts from now on."""
    with suppress(OSError, ValueError):
        resource.setrlimit(LOCKS, (mark, mark))


def rank_of(pid: int, folder: Path | str) -> int | None:
    """Which rank of the workload a process is of, :data:`BESIDE` them, or ``None``."""
    try:
        rank = resource.prlimit(pid, LOCKS)[1] - number(folder, 0)
    except (OSError, ValueError, AttributeError):  # gone, somebody else's, or not Linux
        return None
    return rank if 0 <= rank < RANKS else None
