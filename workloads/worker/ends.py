"""Hold back the end of a run until its last output is stored.

So a page that shows the end of a workload shows its final numbers, too. A slow log only delays the
end briefly, and an unreadable one not at all: then the page says that more output is expected
(``Workload.is_settled``).
"""

import logging
import time
from collections.abc import Callable
from uuid import UUID

from django.db import DatabaseError

from clusters.connections import engine_for
from clusters.models import Cluster
from core import storage
from engines.base import EngineError, EngineUnavailable, Observation
from spec.phases import ENDED
from workloads import reconcile
from workloads.models import Workload
from workloads.worker import collect

LONGEST_SECONDS = 3.0  # an end is held back at most this long
CHECK_SECONDS_PER_END = 0.02  # pause between two checks, for each end that is held back
MAX_CHECK_SECONDS = 0.2  # longest pause between two checks
ROUND_SECONDS = 0.3  # per check, so that other phase changes do not wait
REMOVAL_SECONDS = 2.0  # for output that is about to be removed

log = logging.getLogger(__name__)


class PendingEnds:
    """Ends of runs on one cluster that wait for output. ``store`` stores an observation."""

    def __init__(self, cluster: Cluster, store: Callable[[Observation], None]) -> None:
        self.cluster = cluster
        self.store = store
        self._held_back: dict[UUID, tuple[Observation, float]] = {}
        self._checked_at = 0.0

    def handle(self, observation: Observation) -> None:
        """Store the observation, unless it is an end whose output is missing. A later one about the
        same workload is another look at that end, or the next run."""
        earlier_end, since = self._held_back.pop(observation.workload_id, (None, time.monotonic()))
        if not _is_end(observation):
            if earlier_end:
                self.store(earlier_end)
            self.store(observation)
        elif collect.collect_last_output(
            self.cluster, observation, time.monotonic() + ROUND_SECONDS
        ):
            self._end(observation)
        else:
            self._held_back[observation.workload_id] = (observation, since)

    def store_ready(self) -> None:
        """Store the ends whose output has arrived, or that have waited long enough."""
        now = time.monotonic()
        pause = min(CHECK_SECONDS_PER_END * len(self._held_back), MAX_CHECK_SECONDS)
        if not self._held_back or now - self._checked_at < pause:
            return
        for uid, (observation, since) in list(self._held_back.items()):
            if now - since > LONGEST_SECONDS:
                self._end(observation)
            elif time.monotonic() - now < ROUND_SECONDS:
                del self._held_back[uid]  # ends not checked in this round come first in the next
                if collect.collect_last_output(self.cluster, observation, now + ROUND_SECONDS):
                    self._end(observation)
                else:
                    self._held_back[uid] = (observation, since)
        self._checked_at = time.monotonic()

    def store_all(self) -> None:
        """Store all ends that are held back; the next watch would not report them."""
        for observation, _ in list(self._held_back.values()):
            self._end(observation)

    def _end(self, observation: Observation) -> None:
        self._held_back.pop(observation.workload_id, None)
        self.store(observation)
        collect.queues[self.cluster.pk].add([observation.workload_id])


def is_collected(workload: Workload, observation: Observation) -> bool:
    """Whether the observation may be stored now: it is no end, or all output is here."""
    until = time.monotonic() + ROUND_SECONDS
    return not _is_end(observation) or collect.collect_last_output(
        workload.cluster, observation, until
    )


def collect_rest(workload: Workload) -> str:
    """Collect the remaining output before it is removed; returns why some is lost, or an empty
    string. ``EngineUnavailable`` if there is more than can be read in a moment.

    A full disk does not stop a deletion, which makes room.
    """
    engine = engine_for(workload.cluster)
    try:
        starts = engine.logs(workload.handle, run=workload.run)
        attempts = [rank_log.start for rank_log in starts if not rank_log.origin]
        reconcile.record_attempt(workload, max(attempts, default=0))
        until = time.monotonic() + REMOVAL_SECONDS
        progress = collect.collect_workload(engine, workload, until, last=True)
    except (EngineError, OSError, ValueError, DatabaseError) as error:
        if isinstance(error, DatabaseError) and not storage.is_full(error):
            raise  # the database is busy; the task is retried
        log.warning("The last output of workload %s is lost: %s", workload.pk, error)
        return str(error)
    if not progress.read:
        raise EngineUnavailable("its output is still being collected; trying again")
    return ""


def _is_end(observation: Observation) -> bool:
    return observation.phase is None or observation.phase in ENDED
