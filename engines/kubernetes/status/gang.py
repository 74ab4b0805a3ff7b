"""The gang of a job's pods: which exist, which are ready, and which hold it up. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from itertools import pairwise

from engines.kubernetes.status.pod import PodView
from spec.phases import RankPhase

REPLACED_AFTER = timedelta(seconds=5)  # a pod this much younger than all before is a replacement


@dataclass(frozen=True)
class GangView:
    """``pods`` are those that the cluster does not remove, at most one for each of ``size`` ranks.
    ``retries``: a pod that failed is replaced by a new one."""

    pods: tuple[PodView, ...]
    size: int
    retries: bool = False

    @classmethod
    def from_pods(cls, pods: Iterable[PodView], *, size: int, retries: bool = False) -> "GangView":
        pods = (pod for pod in pods if not pod.is_being_deleted)
        return cls(
            tuple(pod for pod in pods if pod.is_running or not pod.removed_at), size, retries
        )

    @property
    def missing(self) -> int:
        """The number of ranks without a pod."""
        return self.size - len(self.pods)

    @cached_property
    def ready(self) -> list[PodView]:
        return [pod for pod in self.pods if pod.is_ready]

    @cached_property
    def waiting(self) -> list[PodView]:
        """The pods whose rank does not run, and has not ended for good."""
        return [pod for pod in self.pods if self._is_waiting(pod)]

    def _is_waiting(self, pod: PodView) -> bool:
        is_retried = self.retries and pod.phase is RankPhase.FAILED
        return is_retried or pod.phase is RankPhase.PENDING

    @cached_property
    def failed(self) -> list[PodView]:
        """The pods whose rank failed for good."""
        return [pod for pod in self.pods if pod.phase is RankPhase.FAILED and not self.retries]

    @property
    def blockers(self) -> list[PodView]:
        return self.waiting + self.failed

    @property
    def is_placed(self) -> bool:
        """Whether every rank has a pod on a node."""
        return not self.missing and all(pod.is_scheduled for pod in self.pods)

    @property
    def is_restarting(self) -> bool:
        return any(pod.restarts or pod.phase is RankPhase.FAILED for pod in self.waiting)

    @property
    def has_fallen_apart(self) -> bool:
        """Whether the gang was complete and no longer is. While it starts, it is not."""
        if not self.ready:
            return False
        lost = self.missing > 0 and not self.waiting
        late = any(pod in self.waiting for pod in self.replacements)
        return lost or bool(self.failed) or self.is_restarting or late

    @cached_property
    def replacements(self) -> tuple[PodView, ...]:
        """The pods created after a pause. An operator creates the first pods of a gang one right
        after the other, however many there are."""
        ordered = sorted(self.pods, key=lambda pod: pod.created)
        for number, (before, after) in enumerate(pairwise(ordered), start=1):
            if after.created - before.created > REPLACED_AFTER:
                return tuple(ordered[number:])
        return ()
