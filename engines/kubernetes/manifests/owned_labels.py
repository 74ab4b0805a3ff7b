"""Labels and annotations of a job and its pods: which of them operators and schedulers own, and
which Kueue reads on the job. With an owned one, a pod would be counted to another job, receive its
traffic, or be scheduled in another way than its spec says."""

import re
from collections.abc import Iterable, Iterator

from engines.kubernetes.jobs import JobKind
from engines.kubernetes.kueue.names import PRIORITY_CLASS, QUEUE_NAME
from spec.parts.labels import Annotation, Label
from spec.problems.errors import Problem, parse_path
from spec.workload import WorkloadSpec

COMPUTE = "choose the part of a GPU under compute"
WHOLE_JOB = "leave it out and set queue: it waits for all pods of the job together"
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
        (r"kueue\.x-k8s\.io/(pod-group-|retriable-in-group$)", "Kueue's pod groups", WHOLE_JOB),
        (
            r"kueue\.x-k8s\.io/(managed|job-uid|workload|podset|cluster-queue-name"
            r"|local-queue-name|prebuilt-workload-name|multikueue-origin|role-hash)$",
            "Kueue",
            "leave it out",
        ),
    )
)
#: Of a Job without an operator. The API server refuses any other value than its own.
PLAIN_JOB_LABELS = re.compile(r"(batch\.kubernetes\.io/.*|controller-uid|job-name)$")
#: Labels that Kueue reads on the job. On pods they would make each pod a workload of its own, and
#: two gangs could each hold what the other needs.
LABELS_OF_JOB = (QUEUE_NAME, PRIORITY_CLASS)
GivenLabel = tuple[str, Annotation]  # its place in the spec, and a label or an annotation


def complaints(spec: WorkloadSpec, kind: JobKind) -> Iterator[Problem]:
    for place, item in (*_given_labels(spec), *_given_annotations(spec)):
        if why := _refusal(item.name, kind):
            yield Problem(parse_path(f"{place}.name"), why)
    yield from _contradictions(spec)


def of_pods(items: Iterable[Label | Annotation], kind: JobKind) -> dict[str, str]:
    """Labels or annotations of pods as a manifest has them: without those that are owned, and those
    that belong to the job."""
    return {
        name: value
        for name, value in _without_owned(items, kind).items()
        if name not in LABELS_OF_JOB
    }


def labels_of_job(spec: WorkloadSpec, kind: JobKind) -> dict[str, str]:
    """Labels of the job as a manifest has them, including Kueue's."""
    return _without_owned(spec.job_labels, kind) | _labels_for_kueue(spec)


def annotations_of_job(spec: WorkloadSpec, kind: JobKind) -> dict[str, str]:
    """Annotations of the job as a manifest has them."""
    return _without_owned(spec.job_annotations, kind)


def queue_name(spec: WorkloadSpec) -> str:
    """The LocalQueue that the job names. Empty if it names none."""
    return _labels_for_kueue(spec).get(QUEUE_NAME, "")


def _labels_for_kueue(spec: WorkloadSpec) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for _, item in _given_for_kueue(spec):
        chosen.setdefault(item.name, item.value)
    return chosen


def _contradictions(spec: WorkloadSpec) -> Iterator[Problem]:
    """Yield a problem for each of Kueue's labels that is given twice with different values."""
    first: dict[str, GivenLabel] = {}
    for place, item in _given_for_kueue(spec):
        where, other = first.setdefault(item.name, (place, item))
        if item.value != other.value:
            text = (
                f"{item.name} is {item.value!r} here and {other.value!r} at {where}; "
                "a job has one, so leave one of them out"
            )
            yield Problem(parse_path(f"{place}.value"), text)


def _given_for_kueue(spec: WorkloadSpec) -> Iterator[GivenLabel]:
    """Labels that Kueue reads on the job, wherever they are given, the one that counts first."""
    if spec.queue:
        yield "queue", Label(name=QUEUE_NAME, value=spec.queue)
    for place, item in _given_labels(spec):
        if item.name in LABELS_OF_JOB and item.value:
            yield place, item


def _given_labels(spec: WorkloadSpec) -> Iterator[GivenLabel]:
    yield from _numbered("jobLabels", spec.job_labels)
    for role in spec.described_roles:
        yield from _numbered(f"{role.path}.labels", role.replica.labels)


def _given_annotations(spec: WorkloadSpec) -> Iterator[GivenLabel]:
    yield from _numbered("jobAnnotations", spec.job_annotations)
    for role in spec.described_roles:
        yield from _numbered(f"{role.path}.annotations", role.replica.annotations)


def _numbered(field: str, items: Iterable[Annotation]) -> Iterator[GivenLabel]:
    for number, item in enumerate(items):
        yield f"{field}[{number}]", item


def _without_owned(items: Iterable[Label | Annotation], kind: JobKind) -> dict[str, str]:
    return {item.name: item.value for item in items if not _refusal(item.name, kind)}


def _refusal(name: str, kind: JobKind) -> str:
    for pattern, owner, advice in OWNED:
        if pattern.match(name):
            return f"{name!r} belongs to {owner}; {advice}"
    if kind.is_plain and PLAIN_JOB_LABELS.match(name):
        return f"{name!r} belongs to Kubernetes, which sets it on the pods of a Job; leave it out"
    return ""
