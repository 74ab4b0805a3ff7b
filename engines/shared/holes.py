"""Frees the disk space of a file's head, while the offsets in the file stay the same.

Only Linux can do that, and only on some file systems, such as ext4, XFS, Btrfs and tmpfs.
"""

import ctypes
import errno
import os
from pathlib import Path

KEEP_SIZE = 0x01
PUNCH_HOLE = 0x02
CANNOT = {errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}
_libc = ctypes.CDLL(None, use_errno=True)


def free_head(path: Path, end: int) -> bool:
    """Free the bytes before ``end``, which then read as zeros. Returns ``False`` if that is not
    possible here."""
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
