"""Explain why a scheduler cannot place a pod, and what to do about it. Pure.

The default scheduler counts nodes by what excludes them: "0/12 nodes are available: 8 Insufficient
nvidia.com/gpu, 4 node(s) had taint {a: b}, that the pod didn't tolerate." The wording has changed
since 1.20; the patterns match what the versions have in common. KAI counts in other words: "no
nodes with enough resources were found: 4 node(s) didn't have enough resources: GPUs."
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from spec.phases import Reason
from spec.problems import shortages
from spec.problems.causes import Cause, CauseKind, Share
from spec.problems.shortages import CLUSTER, FULL, OTHER, POOL, WAIT

#: With gangs of Kubernetes' own, words about the gang precede it.
HEAD = re.compile(
    r"^(?:pod group is unschedulable, )?0/(\d+) nodes are available:?\s*(.*)$", re.DOTALL
)
#: Later schedulers add a part about preemption.
TAIL = re.compile(r"(?:^|[.,]?\s+)(?:no new claims to deallocate|preemption:).*$", re.DOTALL)
PREEMPTS = re.compile(
    r"found a potential placement for pod on node (?P<node>[^,\s]+), "
    r"preempting (?P<number>\d+) victims"
)
#: KAI compares a pod with the largest node before it looks at what is free.
LARGEST = re.compile(
    r"Max (?P<what>\S+) resources available in a single node in the \S+ node-pool is topped at "
    r"(?P<most>[\d.]+(?: \w+)?)"
)
ON_NO_NODE = re.compile(r"No node in the \S+ node-pool has (?P<what>\S+) resources")
NEVER = (
    "It will never start unless such nodes are added. Choose another compute resource or cluster, "
    f"or {CLUSTER}."
)
NEXT = re.compile(r", (?=\d+ )")
COUNTED = re.compile(r"^(\d+) (.+)$", re.DOTALL)
KAI = re.compile(r"no nodes with enough resources were found: (\d.+?)\.*$", re.DOTALL)
KAI_NEXT = re.compile(r"\.\s+(?=\d+ )")
#: Schedulers from 1.35 on no longer name the taint.
NAMELESS_TAINT = "node(s) had untolerated taint(s)"
NAMED_TAINT = "node(s) had untolerated taint {{{0}: }}"
VOLUME_AWAITED = "A volume does not exist yet"
#: KAI places all pods of a gang at once, or none.
GANG = re.compile(r"are required for gang scheduling")
NO_ROOM = "The scheduler has no room for all ranks"
FEWER_PODS = "Ask for fewer or smaller pods, or wait until other workloads end."
LONGEST_TITLE = 200  # characters of a message that nothing here explains


@dataclass(frozen=True)
class Explanation:
    """How to explain one phrase of a scheduler.

    ``{0}`` in the texts is what the pattern's group matched. ``near`` ranks how close such a node
    is to fitting: a node that is only full passed all other checks.
    """

    pattern: str
    kind: CauseKind
    label: str
    title: str
    todo: str
    near: int = FULL
    is_of_pod: bool = False
    reason: Reason | None = None


CAPACITY = CauseKind.CAPACITY
NODES = CauseKind.NODES
STORAGE = CauseKind.STORAGE
EXPLANATIONS = (
    Explanation(
        r"^NonPreemptibleOverQuota\b",
        CauseKind.QUOTA,
        "over the project's quota",
        "More than the project's quota, which a non-preemptible workload may not exceed",
        "Make it preemptible, ask for less, or wait until workloads of the project end.",
        is_of_pod=True,
    ),
    Explanation(
        r"^OverLimit\b",
        CauseKind.QUOTA,
        "over the project's limit",
        "The project's limit is reached",
        "Ask for less, wait until workloads of the project end, or have the limit raised.",
        is_of_pod=True,
    ),
    Explanation(
        r"^QueueDoesNotExist\b",
        CauseKind.QUEUE,
        "no queue",
        "The project has no queue on the cluster",
        "Ask the administrator: Trainyard creates the queue once it is allowed to write queues "
        "there.",
        is_of_pod=True,
    ),
    Explanation(
        r"Unable to schedule pod(?:group)?$",
        CauseKind.QUEUE,
        "KAI gives no reason",
        "KAI does not start it and gives no reason",
        f"A queue that has queues below it takes no workloads. If this persists, {CLUSTER}.",
        is_of_pod=True,
    ),
    Explanation(
        r"minCount \(\d+\) cannot be satisfied|Not enough resources for the workload",
        CauseKind.GANG,
        "no room for all ranks",
        NO_ROOM,
        FEWER_PODS,
        is_of_pod=True,
    ),
    Explanation(r"Insufficient \S*gpu\S*|enough resources: GPU", *shortages.GPUS),
    Explanation(r"Insufficient cpu|enough resources: CPU", *shortages.CPU),
    Explanation(r"Insufficient memory|enough resources: memory", *shortages.MEMORY),
    Explanation(
        r"(?:Insufficient|enough resources:|enough of mig profile:) (\S+)",
        CAPACITY,
        "too little free {0}",
        "Not enough free {0}",
        f"Ask for less {{0}}, {POOL}, or {WAIT}.",
    ),
    Explanation(
        r"Too many pods",
        CAPACITY,
        "at their limit of pods",
        "The nodes run as many pods as allowed",
        f"{WAIT.capitalize()}, or {POOL}.",
    ),
    Explanation(
        r"unbound immediate PersistentVolumeClaims?",
        STORAGE,
        "a volume does not exist yet",
        VOLUME_AWAITED,
        f"Check the storage class of the volume, or {CLUSTER}: its provisioner has to create it. "
        "With the storage class None, a volume of that size has to exist.",
        is_of_pod=True,
    ),
    Explanation(
        r'persistentvolumeclaim "([^"]+)" not found',
        STORAGE,
        "the claim {0} is missing",
        "The claim {0} is missing",
        "Create the claim in the project's namespace, or choose another data source.",
        is_of_pod=True,
        reason=Reason.REFUSED,
    ),
    Explanation(
        r"volume|PersistentVolume",
        STORAGE,
        "its volume cannot be used there",
        "Its volume cannot be used on these nodes",
        f"{POOL.capitalize()} where the volume is, or a storage class that reaches all nodes.",
    ),
    Explanation(
        r"(?:anti-)?affinity rules|pod affinity|anti-affinity|topology spread", *shortages.AFFINITY
    ),
    Explanation(
        r"free ports",
        NODES,
        "its port on the host's network is in use",
        "Its port on the host's network is in use on every node",
        "Each rank on its host's network needs a node of its own. Ask for fewer workers, choose a "
        "pool with more nodes, or leave out the host's network.",
    ),
    Explanation(r"node\.kubernetes\.io/(?:not-ready|unreachable)", *shortages.NOT_ANSWERING),
    Explanation(r"unschedulable", *shortages.CORDONED),
    Explanation(r"taints? \{(node-role\.kubernetes\.io/[^:}]+)", *shortages.CONTROL_PLANE_TAINT),
    Explanation(r"taints? \{([^:}]+)", *shortages.TAINTED),
    Explanation(
        r"taint",
        NODES,
        "reserved for others by a taint",
        "Nodes are reserved for others by a taint",
        f"Add a toleration for the taint, or {POOL}.",
        near=OTHER,
    ),
    Explanation(r"node affinity|node selector|node\(s\) didn't match", *shortages.NOT_REQUESTED),
)
NO_NODE = "The scheduler finds no node"
OTHERWISE = Explanation(
    "",
    CauseKind.OTHER,
    "{0}",
    f"{NO_NODE}: {{0}}",
    f"If this persists, {CLUSTER}.",
    reason=Reason.WAITING_FOR_CAPACITY,
)


@dataclass(frozen=True)
class RuledOut:
    """A rule and the number of nodes it excludes. ``what`` is what its pattern's group matched."""

    rule: Explanation
    what: str
    nodes: int

    def fill(self, text: str) -> str:
        return text.format(self.what)

    @property
    def weight(self) -> tuple[int, int]:
        return self.rule.near, self.nodes


def _preempting_cause(message: str) -> Cause | None:
    """The cause if the scheduler has just made other pods give way."""
    found = PREEMPTS.search(message)
    if found is None:
        return None
    number = int(found["number"])
    pods = "a pod" if number == 1 else f"{number} pods"
    title = f"It preempts {pods} of lower priority on the node {found['node']}"
    return Cause(CAPACITY, title, "It starts once they have ended.", said=message)


def _too_large_cause(message: str) -> Cause | None:
    """The cause if KAI says that a pod asks for more than any node has."""
    if largest := LARGEST.search(message):
        most = largest["most"].rstrip(".")
        title = f"It requests more {largest['what']} than any node has: {most} at most"
        return Cause(NODES, title, NEVER, said=message)
    if missing := ON_NO_NODE.search(message):
        return Cause(NODES, f"No node has {missing['what']}", NEVER, said=message)
    return None


def unschedulable_cause(message: str, taints: Counter[str] | None = None) -> Cause:
    """The cause in the message of a pod's PodScheduled condition. ``taints`` are the keys of the
    taints that keep the pod from known nodes, for schedulers that do not name them."""
    if clear := _preempting_cause(message) or _too_large_cause(message):
        return clear
    counted = count_phrases(message)
    if counted is None:
        rule, what = _find_explanation(message)
        return Cause(
            rule.kind,
            rule.title.format(what[:LONGEST_TITLE]).rstrip(": "),
            rule.todo.format(what),
            said=message,
            precise_reason=rule.reason,
        )
    total, by_words = counted
    if total == 0:
        title = "The cluster has no node that accepts pods"
        return Cause(NODES, title, f"Wait until there is one, or {CLUSTER}.", message)
    matches = sorted(
        _match_explanations(_name_taints(by_words, taints)), key=lambda it: it.weight, reverse=True
    )
    if not matches:
        return Cause(
            CauseKind.OTHER,
            NO_NODE,
            OTHERWISE.todo,
            said=message,
            total=total or 0,
            precise_reason=OTHERWISE.reason,
        )
    first = matches[0]
    shares = tuple(Share(it.fill(it.rule.label), it.nodes) for it in matches)
    if GANG.search(message):
        return Cause(CauseKind.GANG, NO_ROOM, FEWER_PODS, said=message, shares=shares)
    return Cause(
        first.rule.kind,
        first.fill(first.rule.title),
        first.fill(first.rule.todo),
        said=message,
        shares=shares,
        total=total or 0,
        precise_reason=first.rule.reason,
    )


def has_selected_node(message: str) -> bool:
    """Whether the scheduler found a node that the pod selects: it compares free resources, ports,
    volumes and other pods only after a node's labels."""
    counted = count_phrases(message)
    matches = _match_explanations(counted[1]) if counted else []
    return any(one.rule.near == FULL and not one.rule.is_of_pod for one in matches)


def is_about_nodes(message: str) -> bool:
    """Whether the scheduler looked at nodes, and did not stop at the pod itself."""
    counted = count_phrases(message)
    matches = _match_explanations(counted[1]) if counted else []
    return any(not one.rule.is_of_pod for one in matches)


def count_phrases(message: str) -> tuple[int | None, Counter[str]] | None:
    """The number of nodes, and how many of them each phrase excludes.

    ``None`` if the message has another form, and for a number of nodes that it does not name. A
    phrase without a number applies to all nodes.
    """
    if message.startswith("no nodes available"):
        return 0, Counter()
    if kai := KAI.search(message):
        return None, _count_items(KAI_NEXT.split(kai[1]), 0)
    head = HEAD.match(message.strip())
    if head is None:
        return None
    total = int(head[1])
    body = TAIL.sub("", head[2]).strip().rstrip(".")
    return total, _count_items(NEXT.split(body), total)


def _count_items(items: Iterable[str], total: int) -> Counter[str]:
    by_words: Counter[str] = Counter()
    for item in filter(None, items):
        counted = COUNTED.match(item)
        by_words[counted[2] if counted else item] += int(counted[1]) if counted else total
    return by_words


def _name_taints(by_words: Counter[str], taints: Counter[str] | None) -> Counter[str]:
    """The phrases with each taint named, if the known nodes have as many as the scheduler
    counted."""
    if not taints or by_words[NAMELESS_TAINT] != taints.total():
        return by_words
    named = by_words.copy()
    del named[NAMELESS_TAINT]
    for key, nodes in taints.items():
        named[NAMED_TAINT.format(key)] += nodes
    return named


def _match_explanations(by_words: Counter[str]) -> list[RuledOut]:
    """The explanations that match, with phrases of the same meaning added up."""
    merged: Counter[tuple[Explanation, str]] = Counter()
    for words, nodes in by_words.items():
        merged[_find_explanation(words)] += nodes
    return [RuledOut(rule, what, nodes) for (rule, what), nodes in merged.items() if nodes]


def _find_explanation(words: str) -> tuple[Explanation, str]:
    for explanation in EXPLANATIONS:
        if match := re.search(explanation.pattern, words):
            return explanation, match[1].strip() if match.groups() else ""
    return OTHERWISE, words
