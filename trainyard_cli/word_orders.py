"""Orders of words that Run:ai's command lines have had, as those of this program: ``job list``,
``mpi submit``, ``list project``, ``describe NAME``."""

from collections.abc import Sequence

from trainyard_cli.rest.destinations import FRAMEWORKS

JOB = "job"
JOBS = frozenset({"job", "jobs", "workloads"})
HELP = frozenset({"-h", "--help"})
#: Verbs that stand in front of their noun.
VERBS = frozenset({"list", "describe", "delete"})
#: Nouns of groups, in the singular and in the plural.
SINGULARS = {
    "project": "project",
    "projects": "project",
    "cluster": "cluster",
    "clusters": "cluster",
    "node": "node",
    "nodes": "node",
    "nodepool": "nodepool",
    "nodepools": "nodepool",
    "node-pool": "nodepool",
    "node-pools": "nodepool",
    "pool": "pool",
    "pools": "pool",
    "pvc": "pvc",
    "pvcs": "pvc",
    "queue": "queue",
    "queues": "queue",
    "environments": "environment",
    "environment": "environment",
    "compute": "compute",
    "computes": "compute",
    "datasource": "datasource",
    "datasources": "datasource",
    "credential": "credential",
    "credentials": "credential",
    "template": "template",
    "templates": "template",
    "policy": "policy",
    "policies": "policy",
    "webhook": "webhook",
    "webhooks": "webhook",
    "workspace": "workspace",
    "workspaces": "workspace",
    "training": "training",
    "trainings": "training",
}


def reorder_words(words: Sequence[str]) -> list[str]:
    """Return the words of a command line, without options before them, in this program's order.

    Words that this program has in this order, and words that it lacks, stay as they are.
    """
    if not words:
        return []
    first = words[0]
    rest = list(words[1:])
    if first in FRAMEWORKS:
        return ["training", *words]
    if first == "submit-mpi":
        return ["submit-dist", "mpi", *rest]
    if first in JOBS:
        return ["workload", *rest] if rest else ["list", "jobs"]
    if first == "get":
        first = "describe"
    if first in VERBS and rest:
        return _reorder_verb(first, rest)
    return [SINGULARS.get(first, first), *rest]


def _reorder_verb(verb: str, rest: list[str]) -> list[str]:
    """Return a line that begins with a verb: with the noun in the form that the verb has, or in
    front of the verb. Without a noun, the verb is about a workload."""
    noun, *others = rest
    if noun in JOBS or noun == "workload":
        return [verb, "jobs" if verb == "list" else JOB, *others]
    if noun in SINGULARS:
        return [SINGULARS[noun], verb, *others]
    if verb == "list" or HELP & set(rest):
        return [verb, *rest]
    return [verb, JOB, *rest]
