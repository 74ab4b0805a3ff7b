"""What an autoscaler reports about a pod that does not fit: it adds nodes, or it does not. Pure."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from engines.base import Manifest
from engines.kubernetes.status.events import NO_NODES_ADDED, NODES_ADDED, event_time
from spec.problems.causes import Cause, CauseKind

#: How long an autoscaler waits for a new node before it tries something else.
PROVISIONING = timedelta(minutes=15)
ADDS = "The cluster is adding nodes for it"
WAIT = (
    "Wait: a new node takes minutes. If none is added, ask the cluster's administrator whether the "
    "cloud has such machines left."
)


def with_autoscaler(cause: Cause, events: Iterable[Manifest]) -> Cause:
    """Complete the scheduler's ``cause`` with the autoscaler's answer, from events about the same
    pod, oldest first."""
    events = list(events)
    answers = [one for one in events if one["reason"] in NODES_ADDED | NO_NODES_ADDED]
    if not answers:
        return cause
    last = max(answers, key=event_time)
    said = str(last.get("message", ""))
    if last["reason"] in NO_NODES_ADDED:
        return replace(
            cause,
            todo=f"The autoscaler does not add a node for it. {cause.todo}",
            said=f"{cause.said} {said}",
        )
    if max(map(event_time, events)) - event_time(last) > PROVISIONING:
        return replace(cause, said=f"{cause.said} {said}")
    return Cause(CauseKind.CAPACITY, ADDS, WAIT, said=f"{said}. {cause.said}")
