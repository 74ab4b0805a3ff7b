"""The WorkloadSpec: the one description of a distributed training that every engine reads.

Field names are those of Run:ai's distributed creation request. Assets are copied in by value at
submission, so that a later edit of an asset never changes a workload.
"""

import re
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from spec.compute import Compute
from spec.environment import Environment
from spec.part import Flag, Part, Whole

MAX_WORKERS = 512
DEFAULT_GRACE_SECONDS = 30
MAX_GRACE_SECONDS = 300
DEFAULT_BACKOFF_LIMIT = 6
MAX_BACKOFF_LIMIT = 100
DEFAULT_AUTO_DELETION_SECONDS = 30 * 24 * 3600
MAX_AUTO_DELETION_SECONDS = 10 * 365 * 24 * 3600


class Framework(StrEnum):
    """Wire names. ``label`` is what the wizard shows."""

    PYTORCH = "PyTorch"
    TENSORFLOW = "TF"
    XGBOOST = "XGBoost"
    MPI = "MPI"
    JAX = "JAX"

    @property
    def label(self) -> str:
        return {"TF": "TensorFlow", "XGBoost": "XG Boost"}.get(self.value, self.value)


class Architecture(StrEnum):
    WORKERS_AND_MASTER = "workers_and_master"
    WORKERS_ONLY = "workers_only"

    @property
    def label(self) -> str:
        return "Workers & master" if self is Architecture.WORKERS_AND_MASTER else "Workers only"


class Role(StrEnum):
    MASTER = "master"
    WORKER = "worker"


class CleanPodPolicy(StrEnum):
    NONE = "None"
    ALL = "All"
    RUNNING = "Running"


LABEL = re.compile(r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$")


def _label(name: str) -> str:
    if name and not LABEL.match(name):
        raise ValueError(
            f"{name!r} is not a label name; use letters, digits, - _ . between letters or digits"
        )
    return name


class Label(Part):
    """A label or annotation of the pods."""

    name: Annotated[str, Field(min_length=1, max_length=63), AfterValidator(_label)]
    value: str = Field("", max_length=4096)


class Replica(Environment):
    """What one kind of pod, master or worker, runs and asks for."""

    compute: Compute = Compute()
    labels: tuple[Label, ...] = ()
    annotations: tuple[Label, ...] = ()

    @model_validator(mode="after")
    def _labels_are_unique(self) -> Self:
        for field in ("labels", "annotations"):
            names = [item.name for item in getattr(self, field)]
            if twice := {name for name in names if names.count(name) > 1}:
                raise ValueError(f"{field}: {', '.join(sorted(twice))} is given twice")
        return self


class Pod(Part):
    """One rank of the gang: its place in the world and the replica it is made from."""

    rank: int
    role: Role
    index: int
    replica: Replica

    @property
    def name(self) -> str:
        return f"{self.role}-{self.index}"


class WorkloadSpec(Part):
    """A distributed training: ``num_workers`` workers and, unless workers-only, one master.

    ``master`` is ``None`` where the master inherits the workers' setup. Times are in seconds.
    """

    distributed_framework: Framework
    architecture: Architecture = Architecture.WORKERS_AND_MASTER
    num_workers: Whole = Field(1, ge=1, le=MAX_WORKERS)
    worker: Replica
    master: Replica | None = None
    backoff_limit: Whole = Field(DEFAULT_BACKOFF_LIMIT, ge=0, le=MAX_BACKOFF_LIMIT)
    termination_grace_period_seconds: Whole = Field(
        DEFAULT_GRACE_SECONDS, ge=0, le=MAX_GRACE_SECONDS
    )
    auto_deletion_time_after_completion_seconds: Whole = Field(
        DEFAULT_AUTO_DELETION_SECONDS, ge=0, le=MAX_AUTO_DELETION_SECONDS
    )
    clean_pod_policy: CleanPodPolicy | None = None
    terminate_after_preemption: Flag = False

    @model_validator(mode="after")
    def _master_needs_a_place(self) -> Self:
        if self.master and self.architecture is Architecture.WORKERS_ONLY:
            raise ValueError("master: a workers-only workload has no master")
        return self

    @property
    def has_master(self) -> bool:
        return self.architecture is Architecture.WORKERS_AND_MASTER

    @property
    def master_replica(self) -> Replica | None:
        """The master's setup, its own or the workers'; ``None`` for workers only."""
        return (self.master or self.worker) if self.has_master else None

    @property
    def num_pods(self) -> int:
        return self.num_workers + int(self.has_master)

    @property
    def pods(self) -> tuple[Pod, ...]:
        """Every rank in order: the master is rank 0, worker *i* follows (Kubeflow's numbering)."""
        master = self.master_replica
        head = (Pod(rank=0, role=Role.MASTER, index=0, replica=master),) if master else ()
        workers = (
            Pod(rank=len(head) + i, role=Role.WORKER, index=i, replica=self.worker)
            for i in range(self.num_workers)
        )
        return (*head, *workers)

    def gpus(self, device_memory: int = 0) -> float:
        """GPUs of the whole gang. Rounded, so that 3 times 0.1 is 0.3."""
        return round(sum(pod.replica.compute.gpus(device_memory) for pod in self.pods), 4)

    @property
    def cpu_cores(self) -> float:
        return round(sum(pod.replica.compute.cpu_core_request for pod in self.pods), 4)

    @property
    def memory_bytes(self) -> int:
        return sum(pod.replica.compute.memory_bytes for pod in self.pods)
