"""Mark processes so that their workload can always be recognized.

A process can leave its group, session and parent, and can be started without variables, but it
keeps its resource limits. The limit on file locks is inherited, and Linux has ignored it since
2.4.25, so its value can tell to which rank of which workload a process belongs. Where no number can
be stored there (macOS, some sandboxes), only the variable ``MARKER`` remains.
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
#: Takes the place of the rank in the mark of other processes of a workload: terminals, git, du.
HELPER = RANKS - 1


def mark_for(folder: Path | str, rank: int = HELPER) -> int:
    """Return the mark for the processes of a rank. ``folder`` is the workload's."""
    digest = blake2b(str(folder).encode(), digest_size=6).digest()
    return BASE + int.from_bytes(digest) * RANKS + min(rank, HELPER)


def apply(mark: int) -> None:
    """Mark this process and everything that it starts from now on."""
    with suppress(OSError, ValueError):
        resource.setrlimit(LOCKS, (mark, mark))


def rank_of(pid: int, folder: Path | str) -> int | None:
    """Return the rank of a process of this workload, or :data:`HELPER`.

    Returns ``None`` if the process belongs to another workload or none.
    """
    try:
        rank = resource.prlimit(pid, LOCKS)[1] - mark_for(folder, 0)
    except (OSError, ValueError, AttributeError):  # gone, somebody else's, or not Linux
        return None
    return rank if 0 <= rank < RANKS else None
