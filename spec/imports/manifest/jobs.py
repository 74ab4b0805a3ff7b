"""Reads jobs of Kubernetes and of Kubeflow's operators as workloads."""

from dataclasses import dataclass, field

from spec.imports.manifest.kinds import KINDS, ImportedKind
from spec.imports.manifest.pods import OF_THE_WHOLE, pod_of
from spec.imports.manifest.reading import (
    Document,
    ManifestFault,
    ManifestPart,
    ManifestReading,
    filled,
)
from spec.kind import WorkloadKind

ADDED_BY_SERVERS = (
    *("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"),
)
BATCH = "batch/v1"
LONGEST_NAME = 253  # characters that Kubernetes accepts
OF_PODS = "belongs to the template of the pods, whose labels and annotations are kept"


TAKEN = f"{', '.join(KINDS)} of kubeflow.org, and Job of {BATCH}"


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
        _one_pod(job, _heading(job, whole))
    elif operated and version in operated.versions:
        _gang(job, operated, _heading(job, whole))
    else:
        at = "apiVersion" if operated or kind == "Job" else "kind"
        what = f"{kind} of {version}" if version else f"{kind} without an apiVersion"
        said = f"{what} cannot be run" if kind else "is required"
        job.faults = [ManifestFault(at, f"{said}; Trainyard takes {TAKEN}")]
        return job
    job.faults = reading.all_faults()
    return job


def _heading(job: ImportedManifest, whole: ManifestPart) -> ManifestPart:
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
            meta.refuse(key, OF_PODS)
    return whole.part("spec")


def _one_pod(job: ImportedManifest, spec: ManifestPart) -> None:
    job.kind = WorkloadKind.TRAINING
    spec.one_of("parallelism", 1)
    spec.one_of("completions", 1)
    spec.one_of("completionMode", "NonIndexed")
    spec.one_of("suspend", False)
    replica, whole = pod_of(spec.part("template"))
    job.spec = {**replica, **whole, **_limits(spec)}


def _limits(policy: ManifestPart) -> Document:
    return filled(
        {
            "backoffLimit": policy.whole("backoffLimit"),
            "timeLimitSeconds": policy.whole("activeDeadlineSeconds"),
            "autoDeletionTimeAfterCompletionSeconds": policy.whole("ttlSecondsAfterFinished"),
        }
    )


def _gang(job: ImportedManifest, kind: ImportedKind, spec: ManifestPart) -> None:
    policy = spec.part("runPolicy")
    roles = spec.part(kind.replicas)
    policy.one_of("suspend", False)
    job.spec = {"distributedFramework": str(kind.framework), **_limits(policy)}
    if clean := policy.text("cleanPodPolicy"):
        job.spec["cleanPodPolicy"] = clean
    job.spec |= kind.own(spec, job.spec.get("backoffLimit"))
    head = next((name for name in kind.head if name in roles), "")
    job.no_master = not head
    if "Worker" not in roles:
        _alone(job, kind, roles, head)
        return
    count, worker = _replica(roles.part("Worker"), job)
    job.spec |= {"numWorkers": count, **worker}
    if head:
        leaders, master = _replica(roles.part(head), job)
        if leaders != 1:
            roles.refuse(f"{head}.replicas", "must be 1")
        job.master = None if master == worker else master


def _alone(job: ImportedManifest, kind: ImportedKind, roles: ManifestPart, head: str) -> None:
    """Read a job that has only a head, which is a training of one pod."""
    if not head or not kind.may_be_alone:
        roles.refuse("Worker", "is required")
        return
    job.kind = WorkloadKind.TRAINING
    job.no_master = False
    count, replica = _replica(roles.part(head), job)
    if count != 1:
        roles.refuse(f"{head}.replicas", "must be 1")
    del job.spec["distributedFramework"]
    job.spec.pop("cleanPodPolicy", None)  # a single pod leaves nothing to clean
    job.spec |= replica


def _replica(replica: ManifestPart, job: ImportedManifest) -> tuple[int, Document]:
    """Return the number of replicas, and what each of them is. What their template says about the
    whole workload goes to the job."""
    count = replica.whole("replicas")
    policy = replica.text("restartPolicy")
    template = replica.part("template")
    pod, whole = pod_of(template)
    for key, value in whole.items():
        if job.spec.setdefault(key, value) != value:
            template.refuse(
                OF_THE_WHOLE[key], f"must be as in the workers' template, {job.spec[key]}"
            )
    # The operator's restart policy overrides that of the template.
    return 1 if count is None else count, pod | ({"restartPolicy": policy} if policy else {})
