"""Pods that the cluster removed, and for what, as schedulers and nodes report it. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from engines.base import Manifest
from engines.kubernetes.status.conditions import condition, parse_time
from engines.kubernetes.status.events import (
    PREEMPTED,
    event_namespace,
    event_time,
    hide_other_projects,
)
from engines.kubernetes.status.pod import DISRUPTION, ENDED_BY_NODE, PodView
from spec.phases import Reason

BY_SCHEDULER = "PreemptionByScheduler"
PREEMPTED_POD = re.compile(r"[Pp]od:? [\w.-]+/([\w.-]+)")
DELETED = "lost its pod, which someone deleted on the cluster"
#: KAI moves pods to gather free GPUs on one node.
CONSOLIDATED = re.compile(r"preempted and rescheduled due to bin packing")
PREEMPTED_BY = re.compile(r"preempted by (.+?)(?:\.(?=\s)|\.?$)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Preemption:
    """A preemption or eviction of the pod named ``pod``; a newer pod may have that name. ``uid`` is
    empty if the scheduler did not report it. ``words`` follow the name of the rank."""

    pod: str
    uid: str
    at: datetime
    words: str
    reason: Reason = Reason.PREEMPTED

    def is_about(self, pod: PodView) -> bool:
        """Whether it concerns this pod, not an earlier one of the same name."""
        return self.uid == pod.uid if self.uid else self.at >= pod.created


def newest_by_pod(events: Iterable[Manifest], *, since: datetime) -> dict[str, Preemption]:
    """The newest preemption of each pod, by pod name."""
    recent = (one for one in map(_from_event, events) if one and one.at >= since)
    return {one.pod: one for one in sorted(recent, key=lambda one: one.at)}


def preemption_of(pod: PodView, preemptions: Mapping[str, Preemption]) -> Preemption | None:
    """The preemption of a pod, or of its predecessor while this one has not started."""
    preemption = preemptions.get(pod.name)
    if preemption and (preemption.is_about(pod) or not pod.readable_starts):
        return preemption
    return _from_status(pod) if pod.removed_at else None


def removal_of(pod: PodView, preemptions: Mapping[str, Preemption]) -> Preemption | None:
    """Why the pod was removed before its program ended; ``None`` if it was not."""
    if pod.removed_at is None:
        return None
    known = preemption_of(pod, preemptions)
    return known or Preemption(pod.name, pod.uid, pod.removed_at, DELETED, Reason.LOST)


def _from_event(event: Manifest) -> Preemption | None:
    about = event["involvedObject"]
    said = hide_other_projects(str(event.get("message") or ""), event_namespace(event))
    if event.get("reason") not in PREEMPTED:
        return None
    if about.get("kind") == "Pod":
        return Preemption(about["name"], about.get("uid", ""), event_time(event), _describe(said))
    whom = PREEMPTED_POD.search(said)
    return Preemption(whom[1], "", event_time(event), _describe(said)) if whom else None


def _from_status(pod: PodView) -> Preemption | None:
    """What the status of a removed pod says about its removal."""
    namespace = str(pod.manifest["metadata"].get("namespace", ""))
    disruption = condition(pod.status, DISRUPTION)
    if disruption.get("status") != "True":
        word = pod.status.get("reason")
        said = hide_other_projects(str(pod.status.get("message") or word), namespace)
        if word not in ENDED_BY_NODE:
            return None
        return Preemption(pod.name, pod.uid, pod.created, _describe(said), Reason.LOST)
    preempted = disruption.get("reason") == BY_SCHEDULER
    said = str(disruption.get("message") or disruption.get("reason", ""))
    said = hide_other_projects(said, namespace)
    words = (
        _describe(said) if PREEMPTED_BY.search(said) or not preempted else f"was preempted: {said}"
    )
    reason = Reason.PREEMPTED if preempted else Reason.LOST
    at = disruption.get("lastTransitionTime")  # the time is optional
    return Preemption(pod.name, pod.uid, parse_time(at) if at else pod.created, words, reason)


def _describe(said: str) -> str:
    if CONSOLIDATED.search(said):
        return "was preempted to be moved, so that free GPUs of a node come together"
    by = PREEMPTED_BY.search(said)
    return f"was preempted by {by[1]}" if by else f"was evicted: {said}".rstrip(".")
