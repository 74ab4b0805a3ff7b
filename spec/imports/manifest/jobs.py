"""The jobs of Kubernetes and of Kubeflow's operators that are workloads here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from spec.framework import Framework
from spec.imports.manifest.pods import OF_THE_WHOLE, pod_of
from spec.imports.manifest.reading import (
    Document,
    ManifestFault,
    ManifestPart,
    ManifestReading,
    filled,
    number_in,
)
from spec.kind import WorkloadKind

ADDED_BY_SERVERS = (
    *("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"),
)
BATCH = "batch/v1"
LONGEST_NAME = 253  # characters that Kubernetes keeps
OF_PODS = "belongs to the template of the pods, whose labels and annotations are kept"


@dataclass(frozen=True)
class ImportedKind:
    """A kind of job of an operator: where its replicas stand and what they are called. ``head`` is
    empty where there is none."""

    framework: Framework
    replicas: str
    head: tuple[str, ...] = ("Master",)
    versions: tuple[str, ...] = ("kubeflow.org/v1",)


KINDS: Mapping[str, ImportedKind] = MappingProxyType(
    {
        "PyTorchJob": ImportedKind(Framework.PYTORCH, "pytorchReplicaSpecs"),
        "TFJob": ImportedKind(Framework.TENSORFLOW, "tfReplicaSpecs", ("Chief", "Master")),
        "XGBoostJob": ImportedKind(Framework.XGBOOST, "xgbReplicaSpecs"),
        "JAXJob": ImportedKind(Framework.JAX, "jaxReplicaSpecs", ()),
        "MPIJob": ImportedKind(
            Framework.MPI,
            "mpiReplicaSpecs",
            ("Launcher",),
            ("kubeflow.org/v2beta1", "kubeflow.org/v1"),
        ),
    }
)
TAKEN = f"{', '.join(KINDS)} of kubeflow.org, and Job of {BATCH}"


@dataclass
class ImportedManifest:
    """``spec`` and ``master`` have the names of the wire; without a master of its own the workers'
    is the master's, unless there is none at all."""

    kind: WorkloadKind = WorkloadKind.DISTRIBUTED
    name: str = ""
    namespace: str = ""
    spec: Document = field(default_factory=dict)
    master: Document | None = None
    no_master: bool = False
    faults: list[ManifestFault] = field(default_factory=list)


def imported(manifest: Document) -> ImportedManifest:
    """``faults`` names all that is in the manifest and could not be in a workload."""
    reading = ManifestReading()
    whole, job = reading.part(manifest, ""), ImportedManifest()
    kind, version = whole.text("kind"), whole.text("apiVersion")
    operated = KINDS.get(kind)
    if kind == "Job" and version == BATCH:
        _one_pod(job, _heading(job, whole))
    elif operated and version in operated.versions:
        _gang(job, operated, _heading(job, whole))
    else:
        at = "apiVersion" if operated or kind == "Job" else "kind"
        said = f"{kind or 'a manifest without a kind'} of {version or 'no API version'}"
        job.faults = [ManifestFault(at, f"{said} cannot be run; Trainyard takes {TAKEN}")]
        return job
    job.faults = reading.all_faults()
    return job


def _heading(job: ImportedManifest, whole: ManifestPart) -> ManifestPart:
    """The spec of the job, past what says who it is."""
    whole.drop("status")
    meta = whole.part("metadata")
    meta.drop(*ADDED_BY_SERVERS)
    job.name, job.namespace = meta.text("name"), meta.text("namespace")
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
    policy, roles = spec.part("runPolicy"), spec.part(kind.replicas)
    policy.one_of("suspend", False)
    job.spec = {"distributedFramework": str(kind.framework), **_limits(policy)}
    if clean := policy.text("cleanPodPolicy"):
        job.spec["cleanPodPolicy"] = clean
    job.spec |= _of_framework(kind.framework, spec, job.spec.get("backoffLimit"))
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
    """One pod without workers is a training by itself."""
    if not head or kind.framework is not Framework.PYTORCH:
        roles.refuse("Worker", "is required")
        return
    job.kind, job.no_master = WorkloadKind.TRAINING, False
    count, replica = _replica(roles.part(head), job)
    if count != 1:
        roles.refuse(f"{head}.replicas", "must be 1")
    del job.spec["distributedFramework"]
    job.spec.pop("cleanPodPolicy", None)  # of a pod that is alone nothing is left to clean
    job.spec |= replica


def _replica(replica: ManifestPart, job: ImportedManifest) -> tuple[int, Document]:
    """How many there are, and what each is; what their template says of the whole goes there."""
    count, policy = replica.whole("replicas"), replica.text("restartPolicy")
    template = replica.part("template")
    pod, whole = pod_of(template)
    for key, value in whole.items():
        if job.spec.setdefault(key, value) != value:
            place = f"spec.{OF_THE_WHOLE[key]}"
            template.refuse(place, f"must be as in the workers' template, {job.spec[key]}")
    # The operator's policy goes over the one of its template.
    return 1 if count is None else count, pod | ({"restartPolicy": policy} if policy else {})


def _of_framework(framework: Framework, spec: ManifestPart, limit: int | None) -> Document:
    if framework is Framework.PYTORCH:
        return _elastic(spec.part("elasticPolicy"), limit) | _processes(spec)
    if framework is Framework.TENSORFLOW:
        spec.one_of("successPolicy", "AllWorkers")
    if framework is not Framework.MPI:
        return {}
    spec.one_of("mpiImplementation", "OpenMPI")
    return filled(
        {
            "slotsPerWorker": spec.whole("slotsPerWorker"),
            "sshAuthMountPath": spec.text("sshAuthMountPath"),
            "mpiLauncherCreationPolicy": spec.text("launcherCreationPolicy"),
        }
    )


def _elastic(policy: ManifestPart, limit: int | None) -> Document:
    """``limit`` is how often the job may start again by its own policy: a workload has one number
    of both."""
    policy.one_of("rdzvBackend", "c10d")
    restarts = policy.whole("maxRestarts")
    if None not in {limit, restarts} and restarts != limit:
        policy.refuse("maxRestarts", f"must be as runPolicy.backoffLimit, {limit}")
    bounds = {
        "minReplicas": policy.whole("minReplicas"),
        "maxReplicas": policy.whole("maxReplicas"),
    }
    return filled(bounds | {"backoffLimit": restarts})


def _processes(spec: ManifestPart) -> Document:
    """``auto`` and ``gpu`` are what Trainyard does unless a number is asked for."""
    number = spec.text("nprocPerNode")
    if (processes := number_in(number)) is not None:
        return {"processesPerPod": processes}
    if number not in {"", "auto", "gpu"}:
        spec.refuse("nprocPerNode", f"{number!r} is not auto, gpu or a number")
    return {}
