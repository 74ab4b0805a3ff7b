"""Reads jobs of Kubernetes and of Kubeflow's operators as workloads."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from spec.formats.foreign import IS_WORKFLOW, WORKFLOW, is_workflow
from spec.formats.lines import NOT_FILLED_IN
from spec.imports.manifest.kinds import KINDS, ImportedKind
from spec.imports.manifest.places import place_of_job_field, place_of_pod_field
from spec.imports.manifest.pods import (
    KAI_QUEUE,
    PREEMPTIBILITY,
    PRIORITY,
    QUEUE_NAME,
    WORKLOAD_FIELDS,
    read_labels,
    read_pod,
)
from spec.imports.manifest.reading import (
    Document,
    ManifestFault,
    ManifestPart,
    ManifestReading,
    without_empty,
)
from spec.kind import WorkloadKind

ADDED_BY_SERVERS = (
    *("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"),
)
BATCH = "batch/v1"
LONGEST_NAME = 253  # characters that Kubernetes accepts
#: Annotations of a job: how close together KAI places its pods, by the names of our JSON.
TOPOLOGY = {
    "name": "kai.scheduler/topology",
    "required": "kai.scheduler/topology-required-placement",
    "preferred": "kai.scheduler/topology-preferred-placement",
}
#: Annotation: the manifest that kubectl applied, as a text.
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
#: Fields of the request for what is only attached to a job → where its manifest has them.
MARKS_AT = {"spec.jobLabels": "metadata.labels", "spec.jobAnnotations": "metadata.annotations"}
#: Fields that a workload runs without: its queue, what others read, and the bounds of its size.
OPTIONAL_FIELDS = (
    *("queue", *(field.removeprefix("spec.") for field in MARKS_AT)),
    *("topology", "minReplicas", "maxReplicas"),
)
RESTART_POLICY = "restartPolicy"
NEVER = "Never"
#: Without braces inside, so that a text of many beginnings takes no longer than any other.
PLACEHOLDER = re.compile(r"\{\{[^{}]*\}\}")

ACCEPTED_KINDS = f"{', '.join(KINDS)} of kubeflow.org, and Job of {BATCH}"


@dataclass
class ImportedManifest:
    """The workload of a manifest. ``spec`` and ``master`` have the names in JSON.

    Without a ``master`` of its own, the master has the workers' setup, unless there is none.
    ``suspended_at`` is the path of ``suspend`` in a manifest that is suspended without naming a
    queue: it is right only where the project has a queue that starts the workload. ``notes`` name
    what is left out. With ``generates_name``, ``name`` is how the name begins.
    """

    kind: WorkloadKind = WorkloadKind.DISTRIBUTED
    name: str = ""
    generates_name: bool = False
    namespace: str = ""
    spec: Document = field(default_factory=dict)
    master: Document | None = None
    no_master: bool = False
    suspended_at: str = ""
    faults: list[ManifestFault] = field(default_factory=list)
    notes: list[ManifestFault] = field(default_factory=list)
    policy_at: str = "spec"
    roles_at: str = ""
    #: Paths of the replica and of its template: of the workers, and of a master of its own.
    pods_at: dict[str, tuple[str, str]] = field(default_factory=dict)

    def place_of(self, request_field: str) -> str:
        """Return the path in the manifest of a field of the request, such as ``spec.image``; empty
        if the manifest has no such field."""
        root, _, inner = request_field.partition(".")
        if request_field in MARKS_AT:
            return MARKS_AT[request_field]
        place = place_of_job_field(request_field, policy=self.policy_at, roles=self.roles_at)
        if not place and root in self.pods_at:
            replica, template = self.pods_at[root]
            place = place_of_pod_field(inner, replica=replica, template=template)
        return place


def import_manifest(manifest: Document) -> ImportedManifest:
    """Read a manifest. ``faults`` names everything in it that a workload cannot have."""
    job = ImportedManifest()
    job.faults = list(_whole_faults(manifest))
    if job.faults:
        return job
    reading = ManifestReading()
    whole = reading.part(manifest, "")
    kind = whole.text("kind")
    version = whole.text("apiVersion")
    operated = KINDS.get(kind)
    if kind == "Job" and version == BATCH:
        _read_pod_job(job, _read_heading(job, whole))
    elif operated and version in operated.versions:
        _read_gang(job, operated, _read_heading(job, whole))
    else:
        at = "apiVersion" if operated or kind == "Job" else "kind"
        what = f"{kind} of {version}" if version else f"{kind} without an apiVersion"
        said = f"{what} cannot be run" if kind else "is required"
        job.faults = [ManifestFault(at, f"{said}; Trainyard takes {ACCEPTED_KINDS}")]
        return job
    job.faults = reading.all_faults()
    job.notes = reading.notes
    return job


def _whole_faults(manifest: Document) -> Iterator[ManifestFault]:
    """Yield why a document is no manifest yet: it is another program's, or a template."""
    if is_workflow(manifest):
        yield ManifestFault(WORKFLOW, IS_WORKFLOW)
    else:
        yield from _placeholder_faults(manifest, "")


def _placeholder_faults(value: Any, path: str) -> Iterator[ManifestFault]:
    """Yield the placeholders of a template, such as ``{{ name }}``: those that are a word, or a
    part of one. Among other words, as in a script, the program may read them itself."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            yield from _placeholder_faults(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, str):
        placeholder = PLACEHOLDER.search(value)
        if placeholder and not re.search(r"\s", PLACEHOLDER.sub("", value.strip())):
            yield ManifestFault(path, NOT_FILLED_IN.format(placeholder[0]))


def _read_heading(job: ImportedManifest, whole: ManifestPart) -> ManifestPart:
    """Read the metadata of a job, and return its spec."""
    whole.drop("status")
    meta = whole.part("metadata")
    meta.drop(*ADDED_BY_SERVERS)
    prefix = meta.text("generateName").rstrip("-.")
    job.name = meta.text("name")
    if prefix and not job.name:
        job.name = prefix
        job.generates_name = True
    job.namespace = meta.text("namespace")
    if len(job.name) > LONGEST_NAME:
        job.name = ""
        meta.refuse("name", f"is longer than {LONGEST_NAME} characters")
    _read_marks(job, meta.part("labels"), meta.part("annotations"))
    return whole.part("spec")


def _read_marks(job: ImportedManifest, labels: ManifestPart, notes: ManifestPart) -> None:
    """Read the labels and annotations of a job. Some of them are fields of a workload."""
    labels.drop(KAI_QUEUE)
    notes.drop(APPLIED)
    own = {
        "queue": labels.text(QUEUE_NAME),
        "preemptibility": labels.text(PREEMPTIBILITY),
        "priorityClass": labels.text(PRIORITY),
        "topology": without_empty({key: notes.text(name) for key, name in TOPOLOGY.items()}),
        "jobLabels": read_labels(labels),
        "jobAnnotations": read_labels(notes),
    }
    job.spec |= without_empty(own)


def _read_suspension(job: ImportedManifest, policy: ManifestPart) -> None:
    """Read whether a job waits for its queue, which is all that a suspended one may be for."""
    if policy.flag("suspend") and "queue" not in job.spec:
        job.suspended_at = policy.path_of("suspend")


def _read_scheduling(job: ImportedManifest, policy: ManifestPart) -> None:
    """Read how a gang scheduler is to start a job. Here all pods of a gang start together."""
    for key in ("minAvailable", "minResources", "scheduleTimeoutSeconds"):
        policy.leave_out(key, "all pods of a gang start together")
    policy.leave_out("queue", "the project says where it waits")
    if priority := policy.text("priorityClass"):
        job.spec["priorityClass"] = priority


def _read_pod_job(job: ImportedManifest, spec: ManifestPart) -> None:
    job.kind = WorkloadKind.TRAINING
    spec.require_one_of("parallelism", 1)
    spec.require_one_of("completions", 1)
    spec.require_one_of("completionMode", "NonIndexed")
    _read_suspension(job, spec)
    template = spec.part("template")
    job.pods_at["spec"] = ("", template.path)
    job.spec |= {**_read_template(template, job), **_read_limits(spec)}


def _read_limits(policy: ManifestPart) -> Document:
    return without_empty(
        {
            "backoffLimit": policy.whole_number("backoffLimit"),
            "timeLimitSeconds": policy.whole_number("activeDeadlineSeconds"),
            "autoDeletionTimeAfterCompletionSeconds": policy.whole_number(
                "ttlSecondsAfterFinished"
            ),
        }
    )


def _read_gang(job: ImportedManifest, kind: ImportedKind, spec: ManifestPart) -> None:
    policy = spec.part("runPolicy")
    roles = spec.part(kind.replicas)
    job.policy_at = policy.path
    job.roles_at = roles.path
    _read_suspension(job, policy)
    _read_scheduling(job, policy.part("schedulingPolicy"))
    job.spec |= {"distributedFramework": str(kind.framework), **_read_limits(policy)}
    if clean := policy.text("cleanPodPolicy"):
        job.spec["cleanPodPolicy"] = clean
    job.spec |= kind.read_fields(spec, job.spec.get("backoffLimit"))
    head = next((name for name in kind.head if name in roles), "")
    job.no_master = not head
    if "Worker" not in roles:
        _read_head_alone(job, kind, roles, head)
        return
    count, worker = _read_replica(roles.part("Worker"), job, "spec")
    job.spec |= {"numWorkers": count, **worker}
    master = worker
    if head:
        leaders, master = _read_replica(roles.part(head), job, "masterSpec")
        if leaders != 1:
            roles.refuse(f"{head}.replicas", "must be 1")
        job.master = None if master == worker else master
    if NEVER in (worker.get(RESTART_POLICY), master.get(RESTART_POLICY)):
        job.spec.setdefault("backoffLimit", 0)  # the job fails with its first pod


def _read_head_alone(
    job: ImportedManifest, kind: ImportedKind, roles: ManifestPart, head: str
) -> None:
    """Read a job that has only a head, which is a training of one pod."""
    if not head or not kind.may_be_alone:
        roles.refuse("Worker", "is required")
        return
    job.kind = WorkloadKind.TRAINING
    job.no_master = False
    count, replica = _read_replica(roles.part(head), job, "spec")
    if count != 1:
        roles.refuse(f"{head}.replicas", "must be 1")
    del job.spec["distributedFramework"]
    job.spec.pop("cleanPodPolicy", None)  # a single pod leaves nothing to clean
    job.spec |= replica


def _read_replica(replica: ManifestPart, job: ImportedManifest, root: str) -> tuple[int, Document]:
    """Return the number of replicas, and what each of them is. ``root`` is the key in the request
    of what they are."""
    count = replica.whole_number("replicas")
    policy = replica.text(RESTART_POLICY)
    template = replica.part("template")
    job.pods_at[root] = (replica.path, template.path)
    pod = _read_template(template, job)
    # The operator's restart policy overrides that of the template.
    return 1 if count is None else count, pod | ({RESTART_POLICY: policy} if policy else {})


def _read_template(template: ManifestPart, job: ImportedManifest) -> Document:
    """Return what the pods are. What their template says about the whole workload goes to the
    job."""
    pod, whole = read_pod(template)
    for key, value in whole.items():
        if job.spec.setdefault(key, value) != value:
            text = f"must be {job.spec[key]}, as elsewhere in the manifest"
            template.refuse(WORKLOAD_FIELDS[key], text)
    return pod
