"""KAI's objections to a whole gang, as one cause. Pure."""

from dataclasses import replace

from engines.base import Manifest
from engines.kubernetes.status.causes.unschedulable import unschedulable_cause
from spec.problems.causes import Cause, CauseKind

UNSCHEDULABLE = "UnschedulableOnNodePool"
OF_QUEUES = (CauseKind.QUOTA, CauseKind.QUEUE)


def podgroup_cause(group: Manifest | None) -> Cause | None:
    """The cause in a pod group's status; ``None`` if KAI has no objection."""
    status = (group or {}).get("status") or {}
    causes = [
        _objection_cause(reason)
        for condition in status.get("schedulingConditions") or []
        if condition.get("type") == UNSCHEDULABLE and condition.get("status") == "True"
        for reason in condition.get("reasons") or [condition]
    ]
    telling = [cause for cause in causes if cause]
    # That a queue is full says more than that no node was found, which may follow from it.
    return min(telling, key=lambda cause: cause.kind not in OF_QUEUES, default=None)


def _objection_cause(reason: Manifest) -> Cause | None:
    """The cause in one of KAI's reasons, whose name precedes its message on pods, too."""
    name = str(reason.get("reason") or "")
    said = str(reason.get("message") or name)
    if not said:
        return None
    words = said if said.startswith(name) else f"{name}: {said}"
    return replace(unschedulable_cause(words), said=said)
