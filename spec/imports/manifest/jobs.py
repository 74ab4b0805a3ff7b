"""Reads jobs of Kubernetes and of Kubeflow's operators as workloads."""

from dataclasses import dataclass, field

from spec.imports.manifest.kinds import KINDS, ImportedKind
from spec.imports.manifest.pods import WORKLOAD_FIELDS, read_pod
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
BELONGS_TO_PODS = "belongs to the template of the pods, whose labels and annotations are kept"


ACCEPTED_KINDS = f"{', '.join(KINDS)} of kubeflow.org, and Job of {BATCH}"


@dataclass
class ImportedManifest:
    """The workload of a manifest. ``spec`` and ``master`` have the names in JSON.

    Without a ``master`` of its own, the master has the workers' setup, unless there is none.
    """

    kind: WorkloadKind = WorkloadKind.DISTRIBUTED
    name: str = ""
    namespace: str = ""
    spec: Document = field(default_factory=dict)
    master: Document | None = None
    no_master: bool = False
    faults: list[ManifestFault] = field(default_factory=list)


def import_manifest(manifest: Document) -> ImportedManifest:
    """Read a manifest. ``faults`` names everything in it that a workload cannot have."""
    reading = ManifestReading()
    whole = reading.part(manifest, "")
    job = ImportedManifest()
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
    return job


def _read_heading(job: ImportedManifest, whole: ManifestPart) -> ManifestPart:
    """Read the metadata of a job, and return its spec."""
    whole.drop("status")
    meta = whole.part("metadata")
    meta.drop(*ADDED_BY_SERVERS)
    job.name = meta.text("name")
    job.namespace = meta.text("namespace")
    if len(job.name) > LONGEST_NAME:
        job.name = ""
        meta.refuse("name", f"is longer than {LONGEST_NAME} characters")
    for key in ("labels", "annotations"):
        if key in meta:
            meta.drop(key)
            meta.refuse(key, BELONGS_TO_PODS)
    return whole.part("spec")


def _read_pod_job(job: ImportedManifest, spec: ManifestPart) -> None:
    job.kind = WorkloadKind.TRAINING
    spec.require_one_of("parallelism", 1)
    spec.require_one_of("completions", 1)
    spec.require_one_of("completionMode", "NonIndexed")
    spec.require_one_of("suspend", False)
    replica, whole = read_pod(spec.part("template"))
    job.spec = {**replica, **whole, **_read_limits(spec)}


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
    policy.require_one_of("suspend", False)
    job.spec = {"distributedFramework": str(kind.framework), **_read_limits(policy)}
    if clean := policy.text("cleanPodPolicy"):
        job.spec["cleanPodPolicy"] = clean
    job.spec |= kind.read_fields(spec, job.spec.get("backoffLimit"))
    head = next((name for name in kind.head if name in roles), "")
    job.no_master = not head
    if "Worker" not in roles:
        _read_head_alone(job, kind, roles, head)
        return
    count, worker = _read_replica(roles.part("Worker"), job)
    job.spec |= {"numWorkers": count, **worker}
    if head:
        leaders, master = _read_replica(roles.part(head), job)
        if leaders != 1:
            roles.refuse(f"{head}.replicas", "must be 1")
        job.master = None if master == worker else master


def _read_head_alone(
    job: ImportedManifest, kind: ImportedKind, roles: ManifestPart, head: str
) -> None:
    """Read a job that has only a head, which is a training of one pod."""
    if not head or not kind.may_be_alone:
        roles.refuse("Worker", "is required")
        return
    job.kind = WorkloadKind.TRAINING
    job.no_master = False
    count, replica = _read_replica(roles.part(head), job)
    if count != 1:
        roles.refuse(f"{head}.replicas", "must be 1")
    del job.spec["distributedFramework"]
    job.spec.pop("cleanPodPolicy", None)  # a single pod leaves nothing to clean
    job.spec |= replica


def _read_replica(replica: ManifestPart, job: ImportedManifest) -> tuple[int, Document]:
    """Return the number of replicas, and what each of them is. What their template says about the
    whole workload goes to the job."""
    count = replica.whole_number("replicas")
    policy = replica.text("restartPolicy")
    template = replica.part("template")
    pod, whole = read_pod(template)
    for key, value in whole.items():
        if job.spec.setdefault(key, value) != value:
            template.refuse(
                WORKLOAD_FIELDS[key], f"must be as in the workers' template, {job.spec[key]}"
            )
    # The operator's restart policy overrides that of the template.
    return 1 if count is None else count, pod | ({"restartPolicy": policy} if policy else {})
