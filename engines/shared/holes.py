"""Giving back the room of the head of a file, while all places in it stay as they are.

Linux alone can, and not on every file system; ext4, XFS, Btrfs and tmpfs can.
"""

import ctypes
import errno
import os
from pathlib import Path

KEEP_SIZE, PUNCH_HOLE = 0x01, 0x02
CANNOT = {errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}
_libc = ctypes.CDLL(None, use_errno=True)


def free_head(path: Path, end: int) -> bool:
    """What is before ``end`` reads as zeros from now on, and takes no room. ``False`` where that
    cannot be had."""
    fallocate = getattr(_libc, "fallocate", None)
    if fallocate is None:
        return False
    with path.open("r+b") as file:
        place = (ctypes.c_int64(0), ctypes.c_int64(end))
        if fallocate(file.fileno(), PUNCH_HOLE | KEEP_SIZE, *place) == 0:
            return True
    code = ctypes.get_errno()
    if code in CANNOT:
        return False
    raise OSError(code, os.strerror(code), str(path))
