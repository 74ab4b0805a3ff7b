"""The kinds of job that Trainyard creates, and the labels by which it finds its own."""

from dataclasses import dataclass, replace
from uuid import UUID

from engines.base import Handle, Manifest
from spec.framework import Framework
from spec.values.names import object_name
from spec.workload import Role, WorkloadSpec

WORKLOAD, PROJECT = "trainyard.io/workload", "trainyard.io/project"  # labels
RUN, NAME, SUBMITTED_BY = "trainyard.io/run", "trainyard.io/name", "trainyard.io/submitted-by"
GAVE_UP = "trainyard.io/gave-up"  # annotation: why we suspended the job for good
JOB_NAME = "training.kubeflow.org/job-name"  # on everything that an operator creates for a job
REPLICA_TYPE = "training.kubeflow.org/replica-type"
REPLICA_INDEX = "training.kubeflow.org/replica-index"
JOB_ROLE = "training.kubeflow.org/job-role"  # on pods of an MPIJob, instead of the replica type
GPU = "nvidia.com/gpu"
KAI, KAI_GROUP = "kai-scheduler", "scheduling.run.ai"  # the scheduler, and the group of its API
OPERATOR, MPI_OPERATOR = "Kubeflow training operator", "Kubeflow MPI operator"


@dataclass(frozen=True)
class JobKind:
    """A kind of job: one of Kubeflow's operators', or Kubernetes' own.

    ``port`` is where the ranks meet; 0 for MPI, whose launcher reaches the workers by ssh.
    ``replicas`` is the field with the operator's replicas; it is empty for a plain Job, which has
    one template and no operator. ``master`` and ``worker`` are the operator's names of the roles;
    ``master`` is empty if there is none.
    """

    framework: Framework
    name: str
    replicas: str
    master: str
    container: str
    port: int
    workers_only: bool = True
    operator: str = OPERATOR
    group: str = "kubeflow.org"
    version: str = "v1"
    worker: str = "Worker"

    @property
    def plural(self) -> str:
        return f"{self.name.lower()}s"

    @property
    def is_plain(self) -> bool:
        return not self.replicas

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}"

    @property
    def everywhere(self) -> str:
        return f"/apis/{self.api_version}/{self.plural}"

    def path(self, namespace: str, name: str) -> str:
        return f"/apis/{self.api_version}/namespaces/{namespace}/{self.plural}/{name}"

    def role(self, replica_type: str) -> Role:
        leads = bool(self.master) and replica_type.lower() == self.master.lower()
        return Role.MASTER if leads else Role.WORKER


PYTORCH = JobKind(
    Framework.PYTORCH, "PyTorchJob", "pytorchReplicaSpecs", "Master", "pytorch", port=23456
)
TENSORFLOW = JobKind(
    Framework.TENSORFLOW, "TFJob", "tfReplicaSpecs", "Chief", "tensorflow", port=2222
)
XGBOOST = JobKind(
    Framework.XGBOOST,
    "XGBoostJob",
    "xgbReplicaSpecs",
    "Master",
    "xgboost",
    port=9999,
    workers_only=False,
)
MPI = JobKind(
    Framework.MPI,
    "MPIJob",
    "mpiReplicaSpecs",
    "Launcher",
    "mpi",
    port=0,
    workers_only=False,
    operator=MPI_OPERATOR,
    version="v2beta1",
)
JAX = JobKind(Framework.JAX, "JAXJob", "jaxReplicaSpecs", "", "jax", port=6666)
#: The kind of job for each framework.
KINDS = {kind.framework: kind for kind in (PYTORCH, TENSORFLOW, XGBOOST, MPI, JAX)}
#: A single pod without a framework: a PyTorchJob whose master is the only rank.
SINGLE = replace(PYTORCH, master="", worker="Master")
#: A single pod as a batch/v1 Job, which needs no operator.
PLAIN = replace(
    SINGLE, name="Job", replicas="", worker="", container="main", operator="", group="batch"
)


def job_for(spec: WorkloadSpec, *, plain: bool) -> JobKind:
    """The kind of job for a spec. ``plain``: the cluster runs single pods as batch/v1 Jobs."""
    if spec.distributed_framework:
        return KINDS[spec.distributed_framework]
    return PLAIN if plain else SINGLE


def kind_of(kind: JobKind, job: Manifest) -> JobKind:
    """How to read a job: a PyTorchJob without workers may be one of ours with a single rank."""
    alone = kind is PYTORCH and set(job["spec"].get(kind.replicas, ())) == {SINGLE.worker}
    return SINGLE if alone else kind


def suspension(kind: JobKind) -> Manifest:
    """The patch of a job's spec that removes its pods. Servers before 1.21 drop the unknown
    ``suspend`` of a Job; with a parallelism of 0 it runs no pods either."""
    if kind.is_plain:
        return {"suspend": True, "parallelism": 0}
    return {"runPolicy": {"suspend": True}}


def is_suspended(job: Manifest) -> bool:
    spec = job["spec"]
    policy = spec.get("runPolicy") or {}
    return bool(policy.get("suspend") or spec.get("suspend")) or spec.get("parallelism") == 0


def backoff_limit(job: Manifest) -> int:
    spec = job["spec"]
    return int((spec.get("runPolicy") or {}).get("backoffLimit") or spec.get("backoffLimit") or 0)


def job_name(handle: Handle) -> str:
    """The job's name: at most 49 characters, so that ``-worker-511`` still makes a DNS label."""
    return object_name(handle.name, handle.workload_id)


def workload_of(labels: dict[str, str]) -> UUID | None:
    """The workload of an object; ``None`` if it only looks like ours."""
    try:
        return UUID(labels[WORKLOAD])
    except (KeyError, ValueError):
        return None


def is_pod_of(pod: Manifest, job: Manifest) -> bool:
    """Whether the pod belongs to this job, not to the earlier run's Job of the same name."""
    owners = pod["metadata"].get("ownerReferences") or ()
    return not owners or any(one["uid"] == job["metadata"]["uid"] for one in owners)


def run_of(job: Manifest) -> int:
    text = (job["metadata"].get("annotations") or {}).get(RUN, "")
    return int(text) if text.isdigit() else 1
