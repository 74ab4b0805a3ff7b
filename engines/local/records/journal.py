"""Writing down how a run stands, now or as soon as there is room for it."""

import errno
import logging

from engines.local.records.layout import Folder
from engines.local.records.state import Record
from spec.phases import Phase, Reason

logger = logging.getLogger(__name__)

RETRY = 1.0  # seconds between two attempts to write
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}


def is_full(error: OSError) -> bool:
    """Whether the disk takes nothing now, and may take it later."""
    return error.errno in NO_ROOM


class Journal:
    """A supervisor's. What cannot be written stays in memory, for the supervisor lives longer than
    a full disk; only if it is killed before is that lost. ``is_behind``: something waits."""

    def __init__(self, folder: Folder, record: Record) -> None:
        self.folder, self.record, self.is_behind = folder, record, False

    def move(self, phase: Phase, reason: Reason, message: str) -> None:
        """The next state."""
        self.record.phase, self.record.reason, self.record.message = phase, reason, message
        self.changed()

    def changed(self) -> None:
        self.record.touch()
        self._write()

    def catch_up(self) -> None:
        """Call it now and then."""
        if self.is_behind:
            self._write()

    def _write(self) -> None:
        try:
            self.record.write(self.folder)
        except OSError as error:
            if not is_full(error):
                raise
            if not self.is_behind:
                logger.warning("The state cannot be written, and is kept until it can: %s", error)
            self.is_behind = True
        else:
            if self.is_behind:
                logger.warning("The state is written again")
            self.is_behind = False
