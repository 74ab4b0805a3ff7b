"""Limit the stored output of a workload, by removing the oldest."""

import logging
import time
from uuid import UUID

from django.conf import settings

from workloads.logs.store import cut_head
from workloads.logs.store import stream_lengths as lengths_of

log = logging.getLogger(__name__)

EVERY_SECONDS = 5.0  # seconds between two checks, because adding up a thousand ranks takes a while
_checked_at: dict[UUID, float] = {}


def claim_check(workload_id: UUID) -> bool:
    """Whether a check is due; asking counts as one."""
    now = time.monotonic()
    due = now - _checked_at.get(workload_id, 0.0) > EVERY_SECONDS
    if due:
        _checked_at[workload_id] = now
    return due


def forget_workload(workload_id: UUID) -> None:
    """Forget a workload whose output is complete."""
    _checked_at.pop(workload_id, None)


def enforce_limit(workload_id: UUID) -> None:
    """Cut the older half of the longest stream until the workload is within its limit."""
    most = settings.LOG_LIMIT_BYTES
    lengths = lengths_of(workload_id) if most else {}
    while sum(lengths.values()) > most:
        longest = max(lengths, key=lambda stream: lengths[stream])
        lengths[longest] //= 2
        if not cut_head(longest, lengths[longest]):
            log.warning("Output of workload %s cannot be cut to the limit", workload_id)
            return
