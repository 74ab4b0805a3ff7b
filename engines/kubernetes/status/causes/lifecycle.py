"""Causes outside the program: schedulers, nodes, and other containers of the pod. Pure."""

from collections.abc import Sequence
from datetime import datetime

from engines.base import Manifest
from engines.kubernetes.jobs import KAI
from engines.kubernetes.kueue.names import KUEUE
from engines.kubernetes.manifests.pod.scheduling import QUEUE
from engines.kubernetes.status.conditions import condition, parse_time
from spec.phases import Reason
from spec.problems.causes import Cause, CauseKind

#: The init container in which the training operator's workers wait for their master's name. It
#: asks 100 times, with pauses of 2 s, and then fails.
MASTER_WAITER = "init-pytorch"
DEFAULT_SCHEDULER = "default-scheduler"
#: Seconds within which a scheduler normally reports on a pod, and most images are pulled.
SCHEDULER_SECONDS = 15
START_SECONDS = 120
ADMINISTRATOR = "ask the cluster's administrator"


GATED_BY_KUEUE = Cause(
    CauseKind.QUEUE,
    "Kueue has not admitted the pod to a queue yet",
    "Kueue queues each pod separately here. Give the job a queue instead, then Copy & edit, so "
    "that all its pods start together.",
    precise_reason=Reason.WAITING_FOR_QUOTA,
)


def scheduler_name(pod: Manifest) -> str:
    return str(pod["spec"].get("schedulerName") or DEFAULT_SCHEDULER)


def unreported_pod(pod: Manifest, last_placed: datetime | None) -> Cause:
    """The scheduler has reported nothing about the pod. That accuses the scheduler only if it has
    not chosen a node for it, and has placed no other pod since. ``last_placed`` is when it last
    placed one; ``None`` if unknown."""
    name = scheduler_name(pod)
    said = f"The pod {pod['metadata']['name']} has no condition PodScheduled."
    if node := (pod.get("status") or {}).get("nominatedNodeName"):
        title = f"The scheduler {name} has chosen the node {node}, which is not ready for it yet"
        todo = (
            "It waits there for a volume or a device to be prepared; the events of its claims may "
            f"say more. If this persists, {ADMINISTRATOR}."
        )
        said = f"{said} Its status.nominatedNodeName is {node}."
        return Cause(CauseKind.OTHER, title, todo, said=said)
    queue = (pod["metadata"].get("labels") or {}).get(QUEUE, "") if name == KAI else ""
    created = parse_time(pod["metadata"]["creationTimestamp"])
    if last_placed and last_placed > created:
        title = f"The scheduler {name} places other pods, and reports nothing about this one"
        todo = (
            "It may be waiting for a volume, a device or other pods. If this persists, "
            f"{ADMINISTRATOR}."
        )
        if queue:
            todo = f"The queue {queue} may not exist: {ADMINISTRATOR}."
        return Cause(CauseKind.OTHER, title, todo, said=said)
    if queue:  # KAI 0.12 says nothing of a pod whose queue does not exist
        title = f"The scheduler {name} reports nothing about it"
        todo = f"Either it does not run, or the queue {queue} does not exist: {ADMINISTRATOR}."
        return Cause(CauseKind.OPERATOR, title, todo, said=said)
    title = f"The scheduler {name} does not answer"
    todo = f"Nothing is placed until that scheduler runs: {ADMINISTRATOR}."
    return Cause(CauseKind.OPERATOR, title, todo, said=said)


def scheduling_gate(pod: Manifest, said: str) -> Cause:
    """Somebody's scheduling gate keeps the pod from the scheduler."""
    gates = [gate["name"] for gate in pod["spec"].get("schedulingGates") or ()]
    if any(name.startswith(f"{KUEUE}/") for name in gates):
        return GATED_BY_KUEUE
    names = ", ".join(gates)
    title = f"It waits behind a scheduling gate: {names}" if names else "It waits behind a gate"
    todo = (
        "The pod is scheduled once the controller that added the gate removes it. If this "
        f"persists, {ADMINISTRATOR}."
    )
    return Cause(CauseKind.QUEUE, title, todo, said=said, precise_reason=Reason.NONE)


def unresolved_master(pod: Manifest) -> Cause:
    """The operator's init container waits for the name of a master that runs."""
    todo = (
        "The master runs, so its name should resolve. Either the cluster's DNS does not answer, or "
        f"a NetworkPolicy keeps this pod from it: {ADMINISTRATOR}."
    )
    state = condition(pod.get("status") or {}, "Initialized")
    said = f"{state.get('reason', '')}: {state.get('message') or ''}".strip(": ")
    title = "It waits for the name of the master to resolve"
    return Cause(CauseKind.OTHER, title, todo, said=said)


def slow_start(pod: Manifest, waiting: Manifest, warning: str) -> Cause:
    """The pod has a node, and no known problem is reported. ``warning`` is the last event about
    it, if it has one."""
    node = pod["spec"]["nodeName"]
    title = f"The node {node} has been preparing its container for minutes"
    todo = (
        "Large images and volumes take time; the event history shows the progress. If this "
        "persists, "
        f"{ADMINISTRATOR} to look at the node."
    )
    state = f"{waiting.get('reason', '')}: {waiting.get('message') or ''}".rstrip(": ")
    said = warning or state
    return Cause(CauseKind.OTHER, title, todo, said=said, precise_reason=Reason.NONE)


def lost_node(pod: Manifest) -> Cause:
    """The pod's node has stopped reporting."""
    title = f"The node {pod['spec']['nodeName']} does not answer"
    todo = (
        "Whether the rank still runs is unknown, and no pod replaces it until the node is back or "
        f"is removed from the cluster: {ADMINISTRATOR}, or Stop the workload."
    )
    return Cause(CauseKind.NODES, title, todo, precise_reason=Reason.LOST)


def remaining_containers(names: Sequence[str]) -> Cause:
    """The program ended, but other containers of the pod did not."""
    containers = " and ".join(names)
    many = len(names) > 1
    title = (
        f"The program has ended, and the container{'s' if many else ''} {containers} "
        f"{'keep' if many else 'keeps'} its pod alive"
    )
    todo = (
        "Something on the cluster adds it to every pod. Turn that off for the workload by the "
        "label or annotation that it reads, then Copy & edit. Stop the workload to end it now."
    )
    return Cause(CauseKind.OTHER, title, todo, precise_reason=Reason.NONE)
