"""When schedulers last placed a pod: one that places pods is not down. Pure."""

from collections.abc import Iterable
from datetime import datetime

from engines.base import Manifest
from engines.kubernetes.status.causes.lifecycle import scheduler_name
from engines.kubernetes.status.conditions import condition, parse_time

#: The time of the newest placement by scheduler.
Placements = dict[str, datetime]


def record_placements(placements: Placements, pods: Iterable[Manifest]) -> None:
    """Record the placements of these pods, as far as they are newer."""
    for pod in pods:
        state = condition(pod.get("status") or {}, "PodScheduled")
        if state.get("status") != "True" or not state.get("lastTransitionTime"):
            continue
        name = scheduler_name(pod)
        at = parse_time(state["lastTransitionTime"])
        placements[name] = max(at, placements.get(name, at))
