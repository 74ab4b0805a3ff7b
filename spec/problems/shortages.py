"""Why nodes cannot take a pod, in words that are used before submission and after it."""

from typing import NamedTuple

from spec.problems.causes import CauseKind

POOL = "choose another node pool or node type"
WAIT = "wait until other workloads end"
CLUSTER = "ask the cluster's administrator"


class Shortage(NamedTuple):
    """Texts of a shortage: ``label`` for the nodes it excludes, ``title`` for a workload that waits
    for it. ``{0}`` stands for a name. ``near`` ranks how close such a node is to fitting."""

    kind: CauseKind
    label: str
    title: str
    todo: str
    nearness: int


#: Nodes that only lack space; other nodes; nodes of the control plane, which schedulers exclude by
#: a taint first, and which nobody means.
FULL = 2
OTHER = 1
CONTROL_PLANE = 0

GPUS = Shortage(
    CauseKind.CAPACITY,
    "too few free GPUs",
    "Not enough free GPUs",
    f"Ask for fewer GPUs for each pod, {POOL}, or {WAIT}.",
    FULL,
)
CPU = Shortage(
    CauseKind.CAPACITY,
    "too little free CPU",
    "Not enough free CPU",
    f"Ask for fewer CPU cores for each pod, {POOL}, or {WAIT}.",
    FULL,
)
MEMORY = Shortage(
    CauseKind.CAPACITY,
    "too little free memory",
    "Not enough free memory",
    f"Ask for less CPU memory for each pod, {POOL}, or {WAIT}.",
    FULL,
)
AFFINITY = Shortage(
    CauseKind.NODES,
    "the pods' affinity rules it out",
    "No node satisfies the pods' affinity",
    "Loosen the pod affinity or topology, or ask for fewer pods.",
    FULL,
)
NOT_ANSWERING = Shortage(
    CauseKind.NODES,
    "they do not answer",
    "Nodes do not answer",
    f"Wait until they are back, or {CLUSTER}.",
    OTHER,
)
CORDONED = Shortage(
    CauseKind.NODES,
    "cordoned",
    "Nodes are cordoned",
    f"Wait until they are uncordoned, or {CLUSTER}.",
    OTHER,
)
CONTROL_PLANE_TAINT = Shortage(
    CauseKind.NODES,
    "reserved for the control plane",
    "Nodes are reserved for the control plane by the taint {0}",
    f"{POOL.capitalize()}, or add a toleration for the taint if that is intended.",
    CONTROL_PLANE,
)
TAINTED = Shortage(
    CauseKind.NODES,
    "reserved for others by the taint {0}",
    "Nodes are reserved for others by the taint {0}",
    f"Add a toleration for the taint {{0}}, or {POOL}.",
    OTHER,
)
NOT_REQUESTED = Shortage(
    CauseKind.NODES,
    "not of the requested node pool or type",
    "No node is of the requested pool or type",
    f"{POOL.capitalize()}; the Nodes tab of the cluster shows what is available.",
    OTHER,
)
