"""The end of a run is told when the last that it printed is here, numbers included.

Who saw it end looks at its numbers now, and not again. A log that is long in coming keeps the end
back for a moment only, and one that nobody can read not at all: then the row says that there is
more to come, see ``Workload.is_settled``.
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

LONGEST_SECONDS = 3.0  # that an end is kept back
AGAIN_SECONDS = (0.02, 0.2)  # between two looks, for each that is kept back, and at most
ROUND_SECONDS = 0.3  # of one look, so that other phases do not wait for it
REST_SECONDS = 2.0  # of one look at what is about to be removed

log = logging.getLogger(__name__)


class Ends:
    """Ends on one cluster whose last output is still on its way."""

    def __init__(self, cluster: Cluster, tell: Callable[[Observation], None]) -> None:
        self.cluster, self.tell = cluster, tell
        self._kept: dict[UUID, tuple[Observation, float]] = {}
        self._looked = 0.0

    def take(self, observation: Observation) -> None:
        """Tell it now, unless it is an end that something is missing of. What comes after such an
        end is another look at it, or the next run."""
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
        """Tell those whose last output came by now, and those that waited long enough."""
        now = time.monotonic()
        rest = min(AGAIN_SECONDS[0] * len(self._kept), AGAIN_SECONDS[1])
        if not self._kept or now - self._looked < rest:
            return
        for uid, (observation, since) in list(self._kept.items()):
            if now - since > LONGEST_SECONDS:
                self._end(observation)
            elif time.monotonic() - now < ROUND_SECONDS:
                del self._kept[uid]  # those at whom nobody looked in this round come first
                if collect.last_words(self.cluster, observation, now + ROUND_SECONDS):
                    self._end(observation)
                else:
                    self._kept[uid] = (observation, since)
        self._looked = time.monotonic()

    def tell_all(self) -> None:
        """Whoever watches next would not hear of them."""
        for observation, _ in list(self._kept.values()):
            self._end(observation)

    def _end(self, observation: Observation) -> None:
        self._kept.pop(observation.workload_id, None)
        self.tell(observation)
        collect.waiting[self.cluster.pk].add([observation.workload_id])


def is_collected(workload: Workload, observation: Observation) -> bool:
    """Whether it may be told now: it is no end, or a look shows that all of its output is here."""
    until = time.monotonic() + ROUND_SECONDS
    return not _is_end(observation) or collect.last_words(workload.cluster, observation, until)


def collect_rest(workload: Workload) -> str:
    """Bring what is left of its output here, for it is about to be removed; why some of it cannot
    be had. ``EngineUnavailable`` while there is more of it than a moment suffices for.

    A full disk does not hold a deletion back: it makes room.
    """
    engine = engine_for(workload.cluster)
    try:
        starts = engine.logs(workload.handle, run=workload.run)
        attempts = [one.start for one in starts if not one.origin]
        reconcile.attempt_starts(workload, max(attempts, default=0))
        until = time.monotonic() + REST_SECONDS
        progress = collect.collect_one(engine, workload, until, last=True)
    except (EngineError, OSError, ValueError, DatabaseError) as error:
        if isinstance(error, DatabaseError) and storage.of(error) is None:
            raise  # somebody else writes; there is another look soon
        log.warning("The last output of workload %s is lost: %s", workload.pk, error)
        return str(error)
    if not progress.read:
        raise EngineUnavailable("its output is still being collected; trying again")
    return ""


def _is_end(observation: Observation) -> bool:
    return observation.phase is None or observation.phase in ENDED
