"""Hold back the end of a run until its last output is stored.

So whoever sees a workload end sees its final numbers, too. A slow log only delays the end briefly,
and an unreadable one not at all: then the page says that more is to come (``Workload.is_settled``).
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
AGAIN_SECONDS = (0.02, 0.2)  # seconds between two checks: per end that is held back, and at most
ROUND_SECONDS = 0.3  # per check, so that other phase changes do not wait
REST_SECONDS = 2.0  # for output that is about to be removed

log = logging.getLogger(__name__)


class Ends:
    """The ends on one cluster that wait for output. ``tell`` stores an observation."""

    def __init__(self, cluster: Cluster, tell: Callable[[Observation], None]) -> None:
        self.cluster = cluster
        self.tell = tell
        self._kept: dict[UUID, tuple[Observation, float]] = {}
        self._looked = 0.0

    def take(self, observation: Observation) -> None:
        """Store the observation, unless it is an end whose output is missing. A later one about the
        same workload is another look at that end, or the next run."""
        kept, since = self._kept.pop(observation.workload_id, (None, time.monotonic()))
        if not _is_end(observation):
            if kept:
                self.tell(kept)
            self.tell(observation)
        elif collect.last_words(self.cluster, observation, time.monotonic() + ROUND_SECONDS):
            self._end(observation)
        else:
            self._kept[observation.workload_id] = (observation, since)

    def go_on(self) -> None:
        """Store the ends whose output has arrived, or that have waited long enough."""
        now = time.monotonic()
        rest = min(AGAIN_SECONDS[0] * len(self._kept), AGAIN_SECONDS[1])
        if not self._kept or now - self._looked < rest:
            return
        for uid, (observation, since) in list(self._kept.items()):
            if now - since > LONGEST_SECONDS:
                self._end(observation)
            elif time.monotonic() - now < ROUND_SECONDS:
                del self._kept[uid]  # ends not checked in this round come first in the next
                if collect.last_words(self.cluster, observation, now + ROUND_SECONDS):
                    self._end(observation)
                else:
                    self._kept[uid] = (observation, since)
        self._looked = time.monotonic()

    def tell_all(self) -> None:
        """Store all ends that are held back; the next watch would not report them."""
        for observation, _ in list(self._kept.values()):
            self._end(observation)

    def _end(self, observation: Observation) -> None:
        self._kept.pop(observation.workload_id, None)
        self.tell(observation)
        collect.waiting[self.cluster.pk].add([observation.workload_id])


def is_collected(workload: Workload, observation: Observation) -> bool:
    """Whether the observation may be stored now: it is no end, or all output is here."""
    until = time.monotonic() + ROUND_SECONDS
    return not _is_end(observation) or collect.last_words(workload.cluster, observation, until)


def collect_rest(workload: Workload) -> str:
    """Collect the remaining output before it is removed; returns why some is lost, or an empty
    string. ``EngineUnavailable`` if there is more than can be read in a moment.

    A full disk does not stop a deletion, which makes room.
    """
    engine = engine_for(workload.cluster)
    try:
        starts = engine.logs(workload.handle, run=workload.run)
        attempts = [one.start for one in starts if not one.origin]
        reconcile.record_attempt(workload, max(attempts, default=0))
        until = time.monotonic() + REST_SECONDS
        progress = collect.collect_one(engine, workload, until, last=True)
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
