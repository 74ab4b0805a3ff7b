"""Find labels and annotations that operators and schedulers own. With one of these, a pod would be
counted to another job, receive its traffic, or be scheduled in another way than its spec says."""

import re
from collections.abc import Iterable, Iterator

from engines.kubernetes.jobs import JobKind
from spec.parts.labels import Annotation, Label
from spec.problems.errors import Problem, parse_path
from spec.workload import WorkloadSpec

COMPUTE = "choose the part of a GPU under compute"
#: Names, whose they are, and what to do. The first match says it.
OWNED = tuple(
    (re.compile(pattern), owner, advice)
    for pattern, owner, advice in (
        (r"trainyard\.io/", "Trainyard", "leave it out"),
        (r"training\.kubeflow\.org/", "the operators of Kubeflow", "leave it out"),
        (r"kai\.scheduler/queue$", "KAI", "leave it out; the queue is the project's"),
        (r"kai\.scheduler/preemptibility$", "KAI", "set preemptibility instead"),
        (r"kai\.scheduler/topology", "KAI", "set topology instead"),
        (r"priorityClassName$", "KAI", "set priorityClass instead"),
        (r"gpu-(fraction|memory)\b", "KAI", f"leave it out and {COMPUTE}"),
        (r"(kai\.scheduler|run\.?ai)/|runai-gpu-group\b", "the scheduler", "leave it out"),
        (r"(pod-group-name|received-resource-type)$", "the scheduler", "leave it out"),
        (r"scheduling\.(k8s\.io/group-name|x-k8s\.io/pod-group)$", "the scheduler", "leave it out"),
    )
)
#: Of a Job without an operator. The API server refuses any other value than its own.
PLAIN_JOB_LABELS = re.compile(r"(batch\.kubernetes\.io/.*|controller-uid|job-name)$")


def complaints(spec: WorkloadSpec, kind: JobKind) -> Iterator[Problem]:
    for role, replica in (("worker", spec.worker), ("master", spec.master)):
        for field in ("labels", "annotations") if replica else ():
            for number, item in enumerate(getattr(replica, field)):
                if why := _refusal(item.name, kind):
                    yield Problem(parse_path(f"{role}.{field}[{number}].name"), why)


def without_owned(items: Iterable[Label | Annotation], kind: JobKind) -> dict[str, str]:
    """Labels or annotations as a manifest has them, without those that are owned."""
    return {item.name: item.value for item in items if not _refusal(item.name, kind)}


def _refusal(name: str, kind: JobKind) -> str:
    for pattern, owner, advice in OWNED:
        if pattern.match(name):
            return f"{name!r} belongs to {owner}; {advice}"
    if kind.is_plain and PLAIN_JOB_LABELS.match(name):
        return f"{name!r} belongs to Kubernetes, which sets it on the pods of a Job; leave it out"
    return ""
