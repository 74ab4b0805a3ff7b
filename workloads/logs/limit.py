"""How much output of one workload is kept: of more, the oldest is removed."""

import logging
import time
from uuid import UUID

from django.conf import settings

from workloads.logs.store import cut
from workloads.logs.store import lengths as lengths_of

log = logging.getLogger(__name__)

EVERY_SECONDS = 5.0  # between two looks, for adding up the output of a thousand ranks takes a while
_looked: dict[UUID, float] = {}


def is_due(workload_id: UUID) -> bool:
    """Whether it is time to look again; the asking counts as a look."""
    now = time.monotonic()
    due = now - _looked.get(workload_id, 0.0) > EVERY_SECONDS
    if due:
        _looked[workload_id] = now
    return due


def forget(workload_id: UUID) -> None:
    """No more output comes."""
    _looked.pop(workload_id, None)


def hold(workload_id: UUID) -> None:
    """Of its longest stream cut the older half, until the workload keeps no more than it may."""
    most = settings.LOG_LIMIT_BYTES
    lengths = lengths_of(workload_id) if most else {}
    while sum(lengths.values()) > most:
        longest = max(lengths, key=lambda stream: lengths[stream])
        lengths[longest] //= 2
        if not cut(longest, lengths[longest]):
            log.warning("Output of workload %s cannot be cut to the limit", workload_id)
            return
