"""Explain why a scheduler cannot place a pod, and what to do about it. Pure.

The default scheduler counts nodes by what excludes them: "0/12 nodes are available: 8 Insufficient
nvidia.com/gpu, 4 node(s) had taint {a: b}, that the pod didn't tolerate." The wording has changed
since 1.20; the patterns match what the versions have in common.
"""

import re
from collections import Counter
from dataclasses import dataclass

from spec.problems import shortages
from spec.problems.causes import Cause, CauseKind, Share
from spec.problems.shortages import CLUSTER, FULL, OTHER, POOL, WAIT

HEAD = re.compile(r"^0/(\d+) nodes are available:?\s*(.*)$", re.DOTALL)
#: Later schedulers add a part about preemption.
TAIL = re.compile(r"(?:^|[.,]?\s+)(?:no new claims to deallocate|preemption:).*$", re.DOTALL)
NEXT = re.compile(r", (?=\d+ )")
COUNTED = re.compile(r"^(\d+) (.+)$", re.DOTALL)


@dataclass(frozen=True)
class Rule:
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


CAPACITY = CauseKind.CAPACITY
NODES = CauseKind.NODES
STORAGE = CauseKind.STORAGE
RULES = (
    Rule(r"Insufficient \S*gpu\S*", *shortages.GPUS),
    Rule(r"Insufficient cpu", *shortages.CPU),
    Rule(r"Insufficient memory", *shortages.MEMORY),
    Rule(
        r"Insufficient (\S+)",
        CAPACITY,
        "too little free {0}",
        "Not enough free {0}",
        f"Ask for less {{0}}, {POOL}, or {WAIT}.",
    ),
    Rule(
        r"Too many pods",
        CAPACITY,
        "at their limit of pods",
        "The nodes run as many pods as allowed",
        f"{WAIT.capitalize()}, or {POOL}.",
    ),
    Rule(
        r"unbound immediate PersistentVolumeClaims?",
        STORAGE,
        "a volume does not exist yet",
        "A volume does not exist yet",
        f"Check the storage class of the volume, or {CLUSTER}: its provisioner has to create it. "
        "With the storage class None, a volume of that size has to exist.",
    ),
    Rule(
        r'persistentvolumeclaim "([^"]+)" not found',
        STORAGE,
        "the claim {0} is missing",
        "The claim {0} is missing",
        "Create the claim in the project's namespace, or choose another data source.",
    ),
    Rule(
        r"volume|PersistentVolume",
        STORAGE,
        "its volume cannot be used there",
        "Its volume cannot be used on these nodes",
        f"{POOL.capitalize()} where the volume is, or a storage class that reaches all nodes.",
    ),
    Rule(
        r"(?:anti-)?affinity rules|pod affinity|anti-affinity|topology spread", *shortages.AFFINITY
    ),
    Rule(
        r"free ports",
        NODES,
        "its port on the host's network is in use",
        "Its port on the host's network is in use on every node",
        "Each rank on its host's network needs a node of its own. Ask for fewer workers, choose a "
        "pool with more nodes, or leave out the host's network.",
    ),
    Rule(r"node\.kubernetes\.io/(?:not-ready|unreachable)", *shortages.NOT_ANSWERING),
    Rule(r"unschedulable", *shortages.CORDONED),
    Rule(r"taints? \{(node-role\.kubernetes\.io/[^:}]+)", *shortages.CONTROL_PLANE_TAINT),
    Rule(r"taints? \{([^:}]+)", *shortages.TAINTED),
    Rule(
        r"taint",
        NODES,
        "reserved for others by a taint",
        "Nodes are reserved for others by a taint",
        f"Add a toleration for the taint, or {POOL}.",
        near=OTHER,
    ),
    Rule(r"node affinity|node selector|node\(s\) didn't match", *shortages.NOT_REQUESTED),
)
OTHERWISE = Rule("", CauseKind.OTHER, "{0}", "The scheduler finds no node", "")


@dataclass(frozen=True)
class RuledOut:
    """A rule and the number of nodes it excludes. ``what`` is what its pattern's group matched."""

    rule: Rule
    what: str
    nodes: int

    def fill(self, text: str) -> str:
        return text.format(self.what)

    @property
    def weight(self) -> tuple[int, int]:
        return self.rule.near, self.nodes


def unschedulable_cause(message: str) -> Cause:
    """The cause in the message of a pod's PodScheduled condition."""
    counted = count_phrases(message)
    if counted is None:
        rule, what = _find_rule(message)
        todo = rule.todo.format(what)
        return Cause(rule.kind, rule.title.format(what), todo, said=message)
    total, by_words = counted
    if not total:
        title = "The cluster has no node that accepts pods"
        return Cause(NODES, title, f"Wait until there is one, or {CLUSTER}.", message)
    matches = sorted(_match_rules(by_words), key=lambda it: it.weight, reverse=True)
    if not matches:
        return Cause(CauseKind.OTHER, OTHERWISE.title, said=message, total=total)
    first = matches[0]
    return Cause(
        first.rule.kind,
        first.fill(first.rule.title),
        first.fill(first.rule.todo),
        said=message,
        shares=tuple(Share(it.fill(it.rule.label), it.nodes) for it in matches),
        total=total,
    )


def has_node_without_room(message: str) -> bool:
    """Whether any node passed all checks up to those of free resources."""
    counted = count_phrases(message)
    return counted is not None and any(one.rule.near == FULL for one in _match_rules(counted[1]))


def count_phrases(message: str) -> tuple[int, Counter[str]] | None:
    """The number of nodes, and how many of them each phrase excludes.

    ``None`` if the message has another form. A phrase without a number applies to all nodes.
    """
    if message.startswith("no nodes available"):
        return 0, Counter()
    head = HEAD.match(message.strip())
    if head is None:
        return None
    total = int(head[1])
    body = TAIL.sub("", head[2]).strip().rstrip(".")
    by_words: Counter[str] = Counter()
    for item in filter(None, NEXT.split(body)):
        counted = COUNTED.match(item)
        by_words[counted[2] if counted else item] += int(counted[1]) if counted else total
    return total, by_words


def _match_rules(by_words: Counter[str]) -> list[RuledOut]:
    """The rules that match, with phrases of the same meaning added up."""
    merged: Counter[tuple[Rule, str]] = Counter()
    for words, nodes in by_words.items():
        merged[_find_rule(words)] += nodes
    return [RuledOut(rule, what, nodes) for (rule, what), nodes in merged.items() if nodes]


def _find_rule(words: str) -> tuple[Rule, str]:
    for rule in RULES:
        if match := re.search(rule.pattern, words):
            return rule, match[1].strip() if match.groups() else ""
    return OTHERWISE, words
