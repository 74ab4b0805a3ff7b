"""What ended a job: the removal of a pod, or a rank that failed by itself. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from engines.base import Manifest
from engines.kubernetes.jobs import JobKind
from engines.kubernetes.status.conditions import condition, is_completed, parse_time
from engines.kubernetes.status.pod import PodView
from engines.kubernetes.status.preemption import Preemption, preemption_of, removal_of

FAILED_ROLE = re.compile(r"(\w+) replica\(s\) failed")  # in the words of the training operator


@dataclass(frozen=True)
class JobEnd:
    """The end of a job with this ``status``. ``pods`` are the newest of each rank, in rank order;
    ``preemptions`` those that schedulers reported, by name of the pod."""

    kind: JobKind
    status: Manifest
    pods: tuple[PodView, ...]
    preemptions: Mapping[str, Preemption]

    @cached_property
    def first_failure(self) -> tuple[PodView, Manifest] | None:
        """The pod of the rank that failed first by itself, and how: others often only follow."""
        failures = [(pod, end) for pod in self.pods for end in pod.failures]
        return min(failures, key=lambda failure: _finish_order(failure[1]), default=None)

    @cached_property
    def removals(self) -> dict[str, Preemption]:
        """The removals that ended the job, by uid of the pod, the first one first. The controller
        of the job may have removed other pods because it had ended."""
        is_complete = is_completed(self.status)
        removed = self._removed_instead_of_done if is_complete else self._removed_before_failure
        whys = ((pod.uid, removal_of(pod, self.preemptions)) for pod in removed)
        return {uid: why for uid, why in whys if why}

    @property
    def _removed_instead_of_done(self) -> list[PodView]:
        """The removed pods whose exit code 0 completed the job: that of the master, or, without
        one, all pods."""
        leads = [pod for pod in self.pods if pod.leads]
        decisive = leads or list(self.pods)
        return decisive if all(pod.removed_at for pod in decisive) else []

    @property
    def _removed_before_failure(self) -> Iterator[PodView]:
        """The pods that were removed before a rank failed by itself, and before the controller
        decided that the job failed."""
        failed = condition(self.status, "FailureTarget") or condition(self.status, "Failed")
        if not failed:  # the controller decided nothing: Kueue or Trainyard gave the job up
            return
        failed_at = parse_time(failed["lastTransitionTime"])
        named = FAILED_ROLE.search(str(failed.get("message")))
        role = self.kind.role(named[1]) if named else None

        def order(pod: PodView) -> tuple[datetime, bool]:
            return pod.removed_at or failed_at, pod.role != role

        before = [pod for pod in self.pods if pod.removed_at and pod.removed_at <= failed_at]
        before.sort(key=order)
        for pod in before:
            # The training operator decides within the second in which a pod is deleted, and may
            # delete the others in the same one.
            is_earlier = order(pod)[0] < failed_at or pod is before[0]
            is_cause = is_earlier and not self._has_failed_before(order(before[0])[0])
            if is_cause or preemption_of(pod, self.preemptions):
                yield pod

    def _has_failed_before(self, moment: datetime) -> bool:
        end = self.first_failure[1] if self.first_failure else {}
        return bool(end.get("finishedAt")) and parse_time(end["finishedAt"]) <= moment


def _finish_order(end: Manifest) -> tuple[bool, str]:
    """A sort key. If a container vanished with its node, kubelet does not know when it ended."""
    at = end.get("finishedAt")
    return not at, at or ""
