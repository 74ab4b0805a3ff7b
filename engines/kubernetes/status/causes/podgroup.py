"""KAI's objections to a whole gang, as one cause. Pure."""

from engines.base import Manifest
from spec.problems.causes import Cause, CauseKind

BY_REASON: dict[str, Cause] = {
    "NonPreemptibleOverQuota": Cause(
        CauseKind.QUOTA,
        "More than the project's quota, which a non-preemptible workload may not exceed",
        "Make it preemptible, ask for less, or wait until workloads of the project end.",
    ),
    "OverLimit": Cause(
        CauseKind.QUOTA,
        "The project's limit is reached",
        "Ask for less, wait until workloads of the project end, or have the limit raised.",
    ),
    "QueueDoesNotExist": Cause(
        CauseKind.QUEUE,
        "The project has no queue on the cluster",
        "Ask the administrator: Trainyard creates the queue once it is allowed to write "
        "queues there.",
    ),
}


def podgroup_cause(group: Manifest | None) -> Cause | None:
    """The cause in a pod group's status; ``None`` if KAI has no objection."""
    status = (group or {}).get("status") or {}
    for condition in status.get("schedulingConditions") or []:
        if condition.get("type") != "UnschedulableOnNodePool" or condition.get("status") != "True":
            continue
        reasons = condition.get("reasons") or [condition]
        recognized = [
            (BY_REASON[one["reason"]], one) for one in reasons if one.get("reason") in BY_REASON
        ]
        if recognized:
            cause, one = recognized[0]
            said = one.get("message") or one["reason"]
            return Cause(cause.kind, cause.title, cause.todo, said=said)
        said = next((one["message"] for one in reasons if one.get("message")), "")
        if said:
            title = "The scheduler has no room for all ranks"
            todo = "Ask for fewer or smaller pods, or wait until other workloads end."
            return Cause(CauseKind.GANG, title, todo, said=said)
    return None
