"""Causes outside the program: schedulers, nodes, and other containers of the pod. Pure."""

from collections.abc import Sequence

from engines.base import Manifest
from spec.phases import Reason
from spec.problems.causes import Cause, CauseKind

DEFAULT_SCHEDULER = "default-scheduler"
#: Seconds within which a scheduler normally reports on a pod, and most images are pulled.
SCHEDULER_SECONDS = 15
START_SECONDS = 120
ADMINISTRATOR = "ask the cluster's administrator"


def silent_scheduler(pod: Manifest) -> Cause:
    """No scheduler has looked at the pod."""
    name = pod["spec"].get("schedulerName") or DEFAULT_SCHEDULER
    title = f"The scheduler {name} does not answer"
    todo = f"Nothing is placed until that scheduler runs: {ADMINISTRATOR}."
    said = f"The pod {pod['metadata']['name']} has no condition PodScheduled."
    return Cause(CauseKind.OPERATOR, title, todo, said=said)


def scheduling_gate(pod: Manifest, said: str) -> Cause:
    """Somebody's scheduling gate keeps the pod from the scheduler."""
    names = ", ".join(gate["name"] for gate in pod["spec"].get("schedulingGates") or ())
    title = f"It waits behind a scheduling gate: {names}" if names else "It waits behind a gate"
    todo = f"Whoever added the gate to the pod must remove it. If this persists, {ADMINISTRATOR}."
    return Cause(CauseKind.QUEUE, title, todo, said=said, precise_reason=Reason.NONE)


def slow_start(pod: Manifest, waiting: Manifest) -> Cause:
    """The pod has a node, and no problem is reported."""
    node = pod["spec"]["nodeName"]
    title = f"The node {node} has been preparing its container for minutes"
    todo = (
        "Large images and volumes take time; the event history shows the progress. If this "
        "persists, "
        f"{ADMINISTRATOR} to look at the node."
    )
    said = f"{waiting.get('reason', '')}: {waiting.get('message') or ''}".rstrip(": ")
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
