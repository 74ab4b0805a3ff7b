"""Write the state of a run, now or as soon as there is space."""

import errno
import logging

from engines.local.records.layout import Folder
from engines.local.records.state import Record
from spec.phases import Phase, Reason

logger = logging.getLogger(__name__)

RETRY = 1.0  # seconds between two attempts to write
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}


def is_full(error: OSError) -> bool:
    """Whether the disk is full, and a later try may succeed."""
    return error.errno in NO_ROOM


class Journal:
    """Writes the states of a supervisor.

    A state that does not fit on the disk is kept in memory, and lost only if the supervisor is
    killed before there is space again. ``is_behind`` tells that a state is unwritten.
    """

    def __init__(self, folder: Folder, record: Record) -> None:
        self.folder = folder
        self.record = record
        self.is_behind = False

    def move(self, phase: Phase, reason: Reason, message: str) -> None:
        """Write the next state."""
        self.record.phase = phase
        self.record.reason = reason
        self.record.message = message
        self.save()

    def save(self) -> None:
        self.record.advance()
        self._write()

    def catch_up(self) -> None:
        """Write the state if an earlier try failed. The supervisor calls it from time to time."""
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
