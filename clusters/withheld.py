"""Find the fields of the wizard that are useless on a cluster, because its engine refuses them.

Each field has a probe: a small workload with a value in this field. If the engine refuses the
probe, its message is the reason why the wizard does not ask for the field. So no reason is written
twice."""

from collections.abc import Mapping, Sequence
from functools import cache
from uuid import UUID

from clusters.connections import site_of
from clusters.models import Cluster
from engines.base import Handle, Launch
from engines.shared.unsupported import LEAVE_OUT
from spec.draft import Values
from spec.framework import Framework
from spec.kind import WorkloadKind
from spec.parts.environment import ConnectionType
from spec.parts.scheduling import Preemptibility, PriorityClass
from spec.problems.errors import Path
from spec.workload import Architecture, JobForm, WorkloadSpec

#: An image and a command, which every cluster accepts.
PROGRAM = {"image": "none", "command": "true"}
HANDLE = Handle(UUID(int=0), "probe", "project")
TRAINING = {"kind": WorkloadKind.TRAINING}
WORKERS = {
    "kind": WorkloadKind.DISTRIBUTED,
    "distributedFramework": next(iter(Framework)),  # any: the probes are about other fields
    "architecture": Architecture.WORKERS_ONLY,
    "numWorkers": 2,
}
MASTER_TOO = WORKERS | {
    "architecture": Architecture.WORKERS_AND_MASTER,
}
PORTION = {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5}
MEMORY = {"gpuDevicesRequest": 1, "gpuRequestType": "memory", "gpuMemoryRequest": "1G"}
CLAIM = {"size": "1G", "accessModes": {"readWriteOnce": True}}
GIT = {"repository": "https://git.example.com/a.git", "path": "/code"}
BUCKET = {"bucket": "data", "path": "/data"}
FILES = {"mountPath": "/files"}

#: Values of a pod, by field of the wizard.
POD_PROBES: Mapping[str, Values] = {
    "nodeType": {"nodeType": "dgx"},
    "podAffinity": {"podAffinity": {"key": "zone", "type": "Required"}},
    "compute.gpuRequestType": {"compute": PORTION},
    "compute.gpuPortionRequest": {"compute": PORTION},
    "compute.gpuPortionLimit": {"compute": {**PORTION, "gpuPortionLimit": 0.8}},
    "compute.gpuMemoryRequest": {"compute": MEMORY},
    "compute.gpuMemoryLimit": {"compute": {**MEMORY, "gpuMemoryLimit": "2G"}},
    **{
        f"connections.connection_type.{way}": {
            "connections": [
                {
                    "name": "tool",
                    "toolType": "custom",
                    "connectionType": way,
                    "containerPort": 8888,
                }
            ]
        }
        for way in ConnectionType
    },
    **{
        f"storage.{path}": {"storage": {path.partition(".")[0]: [volume]}}
        for path, volume in {
            "pvc": {"path": "/data", "claimInfo": CLAIM},
            "pvc.claimInfo.storageClass": {
                "path": "/data",
                "claimInfo": {**CLAIM, "storageClass": "fast"},
            },
            "pvc.claimInfo.volumeMode": {
                "path": "/data",
                "claimInfo": {**CLAIM, "volumeMode": "Block"},
            },
            "nfs": {"server": "nfs.example.com", "path": "/data", "mountPath": "/data"},
            "configMapVolume": {**FILES, "configMap": "files"},
            "configMapVolume.configMap": {**FILES, "configMap": "files"},
            "secretVolume": {**FILES, "secret": "files"},
            "secretVolume.secret": {**FILES, "secret": "files"},
            "git.secretRef.name": {**GIT, "secretRef": {"name": "key"}},
            "s3.accessKeySecret": {**BUCKET, "accessKeySecret": "key"},
            "emptyDirVolume": {"path": "/scratch"},
        }.items()
    },
}
JOB_FORM = "jobForm"
TOPOLOGY = {"topology": {"name": "racks", "required": "rack"}}
#: Workloads with a value, by field of the wizard. It is useless if each of its probes is refused.
PROBES: Mapping[str, Sequence[Values]] = {
    "setup": [{**TRAINING, "setup": ["true"]}],
    "minReplicas": [{**WORKERS, "minReplicas": 1}],
    "maxReplicas": [{**WORKERS, "maxReplicas": 4}],
    "preemptibility": [{**TRAINING, "preemptibility": Preemptibility.NON_PREEMPTIBLE}],
    "priorityClass": [{**TRAINING, "priorityClass": priority} for priority in PriorityClass],
    "queue": [{**TRAINING, "queue": "queue"}],
    JOB_FORM: [{**MASTER_TOO, JOB_FORM: form} for form in JobForm],
    "jobLabels": [{**TRAINING, "jobLabels": [{"name": "label"}]}],
    "jobAnnotations": [{**TRAINING, "jobAnnotations": [{"name": "annotation"}]}],
    "topology.name": [{**TRAINING, **TOPOLOGY}],
    "topology.required": [{**TRAINING, **TOPOLOGY}],
    "topology.preferred": [{**TRAINING, **TOPOLOGY}],
    **{field: [{**TRAINING, "worker": values}] for field, values in POD_PROBES.items()},
}
ARCHITECTURE = "architecture"
#: The field at which an engine refuses requests for parts of a GPU altogether.
SHARED_GPU = "compute.gpuRequestType"


def why_withheld(cluster: Cluster, field: str) -> str:
    """Return why a field of the wizard, a cell of its items or an option of that cell is useless on
    the cluster, as a phrase without a full stop; empty if it is useful."""
    reason = cluster.definition.useless_fields.get(field, "")
    for spec in _specs_of(field):
        reason = _why_refused(cluster, spec, field)
        if not reason:
            return ""
    return reason


def why_architecture_withheld(
    cluster: Cluster, framework: Framework, architecture: Architecture
) -> str:
    """Return why gangs of a framework cannot have a master there, or cannot be without one; empty
    if they can."""
    return _why_refused(cluster, _gang_of(framework, architecture), ARCHITECTURE)


def why_form_withheld(cluster: Cluster, framework: Framework | None, form: JobForm) -> str:
    """Return why gangs of a framework, or of named roles without one, cannot run in a form there;
    empty if they can."""
    return _why_refused(cluster, _gang_in_form(framework, form), JOB_FORM)


@cache
def _gang_in_form(framework: Framework | None, form: JobForm) -> WorkloadSpec:
    shape: Values = {"roles": [{**PROGRAM, "name": "lead"}]}
    if framework:
        shape = MASTER_TOO | {"distributedFramework": framework, "worker": PROGRAM}
    return WorkloadSpec.model_validate(shape | {JOB_FORM: form})


@cache
def _gang_of(framework: Framework, architecture: Architecture) -> WorkloadSpec:
    document = {"distributedFramework": framework, ARCHITECTURE: architecture, "worker": PROGRAM}
    return WorkloadSpec.model_validate(WORKERS | document)


@cache
def _specs_of(field: str) -> tuple[WorkloadSpec, ...]:
    """Return the probes of a field; none if it is useful everywhere."""
    documents = PROBES.get(field, ())
    return tuple(
        WorkloadSpec.model_validate({**document, "worker": PROGRAM | document.get("worker", {})})
        for document in documents
    )


def _why_refused(cluster: Cluster, spec: WorkloadSpec, field: str) -> str:
    launch = Launch(HANDLE, 1, spec, site=site_of(cluster, spec))
    problems = list(cluster.definition.unsupported(cluster, launch))
    for path in _paths_of(field):
        for problem in problems:
            if f"{path}.".startswith(f"{_path_in_pod(problem.path)}."):
                return problem.message.partition(LEAVE_OUT)[0]
    return ""


def _paths_of(field: str) -> list[str]:
    """Return the paths of a spec at which a field is refused, its own first."""
    if field.startswith("connections."):
        return ["connections.connectionType"]
    return [field, SHARED_GPU] if field.startswith("compute.gpu") else [field]


def _path_in_pod(path: Path) -> str:
    """Return a path without the role of the pod and the numbers of items."""
    names = [step for step in path if isinstance(step, str)]
    return ".".join(names[1:] if names[0] == "worker" else names)
