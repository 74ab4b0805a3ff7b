"""Preempted pods, and what they were preempted by, as schedulers report it. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from engines.base import Manifest
from engines.kubernetes.status.conditions import condition, moment
from engines.kubernetes.status.events import (
    GAVE_WAY,
    namespace_of,
    said_at,
    without_strangers,
)
from engines.kubernetes.status.pod import PodView
from spec.phases import Reason

DISRUPTION = "DisruptionTarget"  # a condition of pods since 1.26, with the reason for their removal
BY_SCHEDULER = "PreemptionByScheduler"
WHOM = re.compile(r"[Pp]od:? [\w.-]+/([\w.-]+)")
BY = re.compile(r"preempted by (.+?)(?:\.(?=\s)|\.?$)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Preemption:
    """A preemption of the pod named ``pod``; a newer pod may have that name. ``uid`` is empty if
    the scheduler did not report it. ``words`` follow the name of the rank."""

    pod: str
    uid: str
    at: datetime
    words: str
    reason: Reason = Reason.PREEMPTED

    def is_of(self, pod: PodView) -> bool:
        """Whether it concerns this pod, not an earlier one of the same name."""
        return self.uid == pod.uid if self.uid else self.at >= pod.created


def newest_by_pod(events: Iterable[Manifest], *, since: datetime) -> dict[str, Preemption]:
    """The newest preemption of each pod, by pod name."""
    recent = (one for one in map(_of_event, events) if one and one.at >= since)
    return {one.pod: one for one in sorted(recent, key=lambda one: one.at)}


def of(pod: PodView, preemptions: Mapping[str, Preemption]) -> Preemption | None:
    """The preemption of a pod, or of its predecessor while this one has not started."""
    preemption = preemptions.get(pod.name)
    if preemption and (preemption.is_of(pod) or not pod.starts):
        return preemption
    return _of_condition(pod)


def _of_event(event: Manifest) -> Preemption | None:
    about = event["involvedObject"]
    said = without_strangers(str(event.get("message") or ""), namespace_of(event))
    if event.get("reason") not in GAVE_WAY:
        return None
    if about.get("kind") == "Pod":
        return Preemption(about["name"], about.get("uid", ""), said_at(event), _words(said))
    whom = WHOM.search(said)
    return Preemption(whom[1], "", said_at(event), _words(said)) if whom else None


def _of_condition(pod: PodView) -> Preemption | None:
    disruption = condition(pod.status, DISRUPTION)
    if disruption.get("status") != "True":
        return None
    preempted = disruption.get("reason") == BY_SCHEDULER
    said = str(disruption.get("message") or disruption.get("reason", ""))
    said = without_strangers(said, str(pod.manifest["metadata"].get("namespace", "")))
    words = _words(said) if BY.search(said) or not preempted else f"was preempted: {said}"
    reason = Reason.PREEMPTED if preempted else Reason.NONE
    at = disruption.get("lastTransitionTime")  # whoever adds the condition may leave the time out
    return Preemption(pod.name, pod.uid, moment(at) if at else pod.created, words, reason)


def _words(said: str) -> str:
    by = BY.search(said)
    return f"was preempted by {by[1]}" if by else f"was evicted: {said}".rstrip(".")
