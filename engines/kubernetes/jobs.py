"""The kinds of job that Trainyard creates, and what they have in common."""

from collections.abc import Container
from dataclasses import dataclass

from engines.base import Manifest
from spec.framework import Framework
from spec.workload import Role

GPU = "nvidia.com/gpu"
# the scheduler, and the group of its API
KAI = "kai-scheduler"
KAI_GROUP = "scheduling.run.ai"
OPERATOR = "Kubeflow training operator"
MPI_OPERATOR = "Kubeflow MPI operator"


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
    def cluster_path(self) -> str:
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
#: Frameworks whose master and workers run as plain Jobs where their operator is missing.
WITHOUT_OPERATOR = frozenset({Framework.PYTORCH})
#: A single pod without a framework: a batch/v1 Job, which needs no operator.
PLAIN_JOB = JobKind(
    Framework.PYTORCH,
    "Job",
    replicas="",
    master="",
    container="main",
    port=PYTORCH.port,
    operator="",
    group="batch",
    worker="",
)


def suspension(kind: JobKind, *, wish: bool = True) -> Manifest:
    """The patch of a job's spec that removes its pods, or has them made again."""
    return {"suspend": wish} if kind.is_plain else {"runPolicy": {"suspend": wish}}


def is_suspended(job: Manifest) -> bool:
    spec = job["spec"]
    return bool((spec.get("runPolicy") or spec).get("suspend"))


def backoff_limit(job: Manifest) -> int:
    spec = job["spec"]
    return int((spec.get("runPolicy") or {}).get("backoffLimit") or spec.get("backoffLimit") or 0)


def is_pod_of(pod: Manifest, uids: Container[str]) -> bool:
    """Whether the pod belongs to one of the jobs with these uids, not to an earlier run's Job of
    the same name."""
    owners = pod["metadata"].get("ownerReferences") or ()
    return not owners or any(one["uid"] in uids for one in owners)
