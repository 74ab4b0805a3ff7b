"""Why Kueue keeps a job waiting, as one cause. Pure.

The texts are those of Kueue 0.17, from ``scheduler.go`` and ``flavorassigner.go`` in
``pkg/scheduler``, and from ``pkg/controller/core/workload_controller.go``.
A text that no rule knows is shown as it is.
"""

import re
from dataclasses import replace

from engines.kubernetes.kueue.workload import QueuedJob
from spec.phases import Reason
from spec.problems.causes import Cause, CauseKind

WAITS = "It starts automatically. Ask for less, or for another queue, to start earlier."
NEVER = "Ask for less or choose another queue, then Copy & edit; or have the quota raised."
ADMINISTRATOR = "ask the cluster's administrator"
NOT_TAKEN_UP = Cause(
    CauseKind.QUEUE,
    "Waiting for Kueue to take up the job",
    "Kueue does this within seconds. If this persists, its controller is not running or Trainyard "
    "may not read Kueue's Workloads: Test connection of the cluster says which.",
    precise_reason=Reason.WAITING_FOR_QUOTA,
)
NO_QUEUE = Cause(
    CauseKind.QUEUE,
    "Kueue starts no job without a queue here, and this one names none",
    "Choose a queue, then Copy & edit.",
    precise_reason=Reason.REFUSED,
)
STILL_COUNTS = Cause(
    CauseKind.QUEUE,
    "Its pods have ended, and Kueue still counts its quota",
    "Kueue frees the quota within seconds. If this persists, its controller is not running: ask "
    "the cluster's administrator.",
    precise_reason=Reason.STOPPED_BY_USER,
)
RESUMED_TOO_EARLY = (
    "Kueue started it again before its pods had ended, which the training operator takes for a "
    "failure. Trainyard starts it again."
)
ENDING = Cause(
    CauseKind.QUEUE,
    "Its pods are ending; Kueue frees its quota with them",
    precise_reason=Reason.DELETED_BY_USER,
)

EXCEEDS = re.compile(
    r"insufficient quota for (?P<resource>\S+) in flavor (?P<flavor>\S+), previously considered "
    r"podsets requests \((?P<before>[^)]*)\) \+ current podset request \((?P<now>[^)]*)\) > "
    r"maximum capacity \((?P<most>[^)]*)\)"
)
LACKS = re.compile(
    r"insufficient unused quota for (?P<resource>\S+) in flavor (?P<flavor>\S+), "
    r"(?P<more>\S+) more needed"
)
NOT_COVERED = re.compile(r"resource (?P<resource>\S+) unavailable in ClusterQueue")
QUEUE_STATE = re.compile(
    r"(?P<kind>LocalQueue|ClusterQueue) (?P<name>\S+) "
    r"(?P<state>doesn't exist|not found|is inactive|is stopped|is terminating or missing)"
)
UNSUITABLE = re.compile(
    r"untolerated taint (?P<taint>.+?) in flavor|flavor \S+ doesn't match node affinity"
)
PREEMPTS = re.compile(r"Pending the preemption of (?P<number>\d+) workload")
NAMESPACE = re.compile(r"Workload namespace doesn't match ClusterQueue selector")
MISSING_STATES = {"doesn't exist", "not found", "is terminating or missing"}
#: How ``pkg/scheduler/preemption/preemption.go`` words why a job was preempted.
PREEMPTED_FOR = (
    ("prioritization in the ClusterQueue", "for a workload of higher priority in its ClusterQueue"),
    ("Fair Sharing", "so that the queues of its cohort share fairly"),
    ("reclamation within the cohort", "because another queue of its cohort takes back its quota"),
)
EVICTIONS = {
    "ClusterQueueStopped": "its ClusterQueue was stopped",
    "LocalQueueStopped": "its LocalQueue was stopped",
    "PodsReadyTimeout": "its pods were not ready in time",
    "AdmissionCheck": "an admission check took back its consent",
    "NodeFailures": "its nodes failed",
}


def waiting_cause(queued: QueuedJob) -> Cause:
    """What a job that Kueue has not started waits for."""
    if not queued.queue:
        return NO_QUEUE
    if queued.has_quota:
        return _check_cause(queued) or _starting_cause(queued)
    said = str(queued.condition("QuotaReserved").get("message") or "")
    if queued.is_evicted and said == eviction_text(queued):
        return _requeued_cause(queued, said)
    return _quota_cause(queued, said) if said else _queued_cause(queued)


def still_counted(queued: QueuedJob) -> Cause:
    """The job is gone, and its Workload of Kueue is not."""
    title = f"The job is gone, and Kueue still has its Workload {queued.name}"
    todo = f"Its quota may count until that is gone. If this persists, {ADMINISTRATOR}."
    return Cause(CauseKind.QUEUE, title, todo, precise_reason=Reason.DELETED_BY_USER)


def eviction_text(queued: QueuedJob) -> str:
    return str(queued.condition("Evicted").get("message") or "")


def eviction_message(queued: QueuedJob) -> str:
    """Why Kueue took the job's quota back, in a sentence that names nobody by UID."""
    said = eviction_text(queued)
    reason = str(queued.condition("Evicted").get("reason") or "")
    for text, words in PREEMPTED_FOR:
        if text in said:
            return f"Kueue preempted it {words}."
    if reason == "Preempted":
        return "Kueue preempted it for another workload."
    why = EVICTIONS.get(reason) or said.rstrip(".") or reason
    return f"Kueue evicted it: {why}."


def _check_cause(queued: QueuedJob) -> Cause | None:
    """The admission check that a job with reserved quota waits for."""
    for check in queued.admission_checks:
        if check.get("state") == "Ready":
            continue
        title = f"Its quota is reserved; the admission check {check['name']} has not agreed yet"
        todo = f"It starts once the check agrees. If this persists, {ADMINISTRATOR}."
        said = str(check.get("message") or "")
        return Cause(
            CauseKind.QUEUE, title, todo, said=said, precise_reason=Reason.WAITING_FOR_QUOTA
        )
    return None


def _starting_cause(queued: QueuedJob) -> Cause:
    title = f"Kueue has reserved its quota in ClusterQueue {queued.cluster_queue} and starts it"
    return _wait(title, f"If this persists, {ADMINISTRATOR}.", "")


def _requeued_cause(queued: QueuedJob, said: str) -> Cause:
    title = f"Kueue took back its quota; it waits in queue {queued.queue} again"
    until = str(queued.requeue_state.get("requeueAt") or "")
    todo = f"Kueue does not try again before {until}." if until else WAITS
    return _wait(title, todo, said)


def _queued_cause(queued: QueuedJob) -> Cause:
    return _wait(f"It waits in Kueue's queue {queued.queue}", WAITS, "")


def _quota_cause(queued: QueuedJob, said: str) -> Cause:
    """The cause in the message of the condition QuotaReserved."""
    if too_much := _impossible_request(said):
        resource = too_much["resource"]
        requested = str(too_much["now"])
        if too_much["before"] != "0":
            requested = f"{too_much['before']} and {requested}"
        title = (
            f"More {resource} than queue {queued.queue} can ever give: {requested} requested, "
            f"{too_much['most']} at most"
        )
        return Cause(CauseKind.QUOTA, title, NEVER, said=said, precise_reason=Reason.NEVER_FITS)
    if missing := NOT_COVERED.search(said):
        title = f"Queue {queued.queue} has no quota for {missing['resource']}"
        todo = f"Do without it, or have it added to the ClusterQueue: {ADMINISTRATOR}."
        return Cause(CauseKind.QUOTA, title, todo, said=said, precise_reason=Reason.NEVER_FITS)
    if state := QUEUE_STATE.search(said):
        return _queue_state_cause(state, said)
    if preempts := PREEMPTS.search(said):
        number = int(preempts["number"])
        others = "a workload" if number == 1 else f"{number} workloads"
        return _wait(
            f"Kueue preempts {others} to make room for it", "It starts automatically.", said
        )
    if lacks := LACKS.search(said):
        title = (
            f"Queue {queued.queue} lacks quota for {lacks['resource']}: {lacks['more']} more needed"
        )
        return _wait(title, WAITS, said, kind=CauseKind.QUOTA)
    if UNSUITABLE.search(said):
        title = f"No flavor of queue {queued.queue} suits its pods"
        todo = (
            "Change its tolerations, node type or node pools, then Copy & edit; or "
            f"{ADMINISTRATOR}."
        )
        return Cause(CauseKind.NODES, title, todo, said=said, precise_reason=Reason.NEVER_FITS)
    if NAMESPACE.search(said):
        title = f"The ClusterQueue of queue {queued.queue} does not serve the project's namespace"
        todo = f"Choose another queue, then Copy & edit; or {ADMINISTRATOR}."
        return Cause(CauseKind.QUEUE, title, todo, said=said, precise_reason=Reason.REFUSED)
    return replace(_queued_cause(queued), said=said)


def _impossible_request(said: str) -> re.Match[str] | None:
    """The request of a set of pods that fits none of the flavors. Kueue lists its objections to
    every flavor: if one of them only lacks unused quota, waiting helps."""
    for pod_set in said.split("couldn't assign flavors to pod set"):
        if (too_much := EXCEEDS.search(pod_set)) and not LACKS.search(pod_set):
            return too_much
    return None


def _queue_state_cause(state: re.Match[str], said: str) -> Cause:
    kind = state["kind"]
    name = state["name"]
    if state["state"] in MISSING_STATES:
        title = f"There is no {kind} {name}"
        todo = f"Choose another queue, then Copy & edit; or {ADMINISTRATOR} to create it."
        return Cause(CauseKind.QUEUE, title, todo, said=said, precise_reason=Reason.REFUSED)
    word = "stopped" if state["state"] == "is stopped" else "inactive"
    title = f"Kueue's {kind} {name} is {word}"
    todo = f"It starts once the queue takes workloads again: {ADMINISTRATOR}."
    return _wait(title, todo, said)


def _wait(title: str, todo: str, said: str, *, kind: CauseKind = CauseKind.QUEUE) -> Cause:
    return Cause(kind, title, todo, said=said, precise_reason=Reason.WAITING_FOR_QUOTA)
