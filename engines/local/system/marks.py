"""Mark processes so that their workload is known wherever they go.

A process can leave its group, session and parent, and can be started without variables, but it
keeps its resource limits. Linux inherits the limit on file locks and has ignored it since 2.4.25,
so its value can say to which rank of which workload a process belongs. If a number cannot be stored
there (macOS, some sandboxes), only the variable ``MARKER`` remains.
"""

import resource
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

#: Variable of every process of a workload; its value is the workload's folder.
MARKER = "TRAINYARD_GANG"
LOCKS = 10  # RLIMIT_LOCKS, which Python's module does not name
#: Larger than any limit that somebody might set.
BASE = 1 << 61
RANKS = 1 << 12
#: The mark of processes next to the ranks, which are terminals.
BESIDE = RANKS - 1


def number(folder: Path | str, rank: int = BESIDE) -> int:
    """The mark of a rank's processes; ``folder`` is the workload's."""
    digest = blake2b(str(folder).encode(), digest_size=6).digest()
    return BASE + int.from_bytes(digest) * RANKS + min(rank, BESIDE)


def put_on(mark: int) -> None:
    """Mark this process, and everything it starts."""
    with suppress(OSError, ValueError):
        resource.setrlimit(LOCKS, (mark, mark))


def rank_of(pid: int, folder: Path | str) -> int | None:
    """The rank of a process, :data:`BESIDE`, or ``None`` if it belongs to another workload
    or none."""
    try:
        rank = resource.prlimit(pid, LOCKS)[1] - number(folder, 0)
    except (OSError, ValueError, AttributeError):  # gone, somebody else's, or not Linux
        return None
    return rank if 0 <= rank < RANKS else None
