"""The pods of a job, its gang: which are there, which are ready, and which hold it up. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from engines.kubernetes.status.pod import PodView
from spec.phases import RankPhase

REPLACED_AFTER = timedelta(seconds=5)  # a pod made so much later than the first replaces another


@dataclass(frozen=True)
class GangView:
    """``here`` are the pods that are not on their way out, of ``size`` ranks one each at most."""

    here: tuple[PodView, ...]
    size: int

    @classmethod
    def of(cls, pods: Iterable[PodView], *, size: int) -> "GangView":
        return cls(tuple(pod for pod in pods if not pod.is_leaving), size)

    @property
    def missing(self) -> int:
        """How many ranks have no pod."""
        return self.size - len(self.here)

    @cached_property
    def ready(self) -> list[PodView]:
        return [pod for pod in self.here if pod.is_ready]

    @cached_property
    def waiting(self) -> list[PodView]:
        return [pod for pod in self.here if not pod.is_ready and not pod.is_over]

    @cached_property
    def failed(self) -> list[PodView]:
        return [pod for pod in self.here if pod.phase is RankPhase.FAILED]

    @property
    def held_up_by(self) -> list[PodView]:
        return self.waiting + self.failed

    @property
    def is_placed(self) -> bool:
        """Whether every rank has a pod that has a node."""
        return not self.missing and all(pod.is_scheduled for pod in self.here)

    @property
    def is_restarting(self) -> bool:
        return any(pod.restarts for pod in self.waiting)

    @property
    def fell_apart(self) -> bool:
        """Whether it was together and is so no longer; at its start it has yet to gather."""
        if not self.ready:
            return False
        first = min(pod.created for pod in self.ready)
        lost = self.missing > 0 and not self.waiting
        late = any(pod.created > first + REPLACED_AFTER for pod in self.waiting)
        return lost or bool(self.failed) or self.is_restarting or late
