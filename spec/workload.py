"""The WorkloadSpec: the one description of a workload that every engine reads.

Field names are those of Run:ai's distributed creation request. Assets are copied in by value at
submission, so that a later edit of an asset never changes a workload.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum
from functools import cache
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator

from spec.data.places import MountPath
from spec.data.storage import Storage
from spec.framework import NO_FRAMEWORK, Framework, Head, Traits, framework_with
from spec.kind import WorkloadKind
from spec.part import Flag, Part, Whole
from spec.parts.batch_script import BatchScript
from spec.parts.compute import Compute, GpuRequestType
from spec.parts.environment import Container
from spec.parts.labels import Annotation, Label, require_unique_names
from spec.parts.pulls import PullSecret
from spec.parts.scheduling import (
    DEFAULT_POOL,
    MAX_POOLS,
    LabelValue,
    NodeAffinity,
    PodAffinity,
    PoolName,
    Preemptibility,
    PriorityClass,
    QueueName,
    Toleration,
    Topology,
)
from spec.parts.setup import Setup
from spec.problems.errors import Path
from spec.values.patterns import K8S_NAME, WEB_ADDRESS

MAX_WORKERS = 512
MAX_PODS = MAX_WORKERS + 1  # with a master
MAX_ROLES = 100
LONGEST_ROLE_NAME = 40  # with a rank's index it is still a host name
REQUIRED = "is required"
IMAGE_REQUIRED = REQUIRED  # of an image, where there is no command
MAX_PROCESSES = 256
DEFAULT_SSH_PATH = "/root/.ssh"
DEFAULT_GRACE_SECONDS = 30
MAX_GRACE_SECONDS = 300
DEFAULT_BACKOFF_LIMIT = 6
MAX_BACKOFF_LIMIT = 100
MAX_TIME_LIMIT_SECONDS = 365 * 24 * 3600
MIN_IDLE_SECONDS = 300  # use is measured every few seconds, and seldom all the time
DEFAULT_AUTO_DELETION_SECONDS = 30 * 24 * 3600
MAX_AUTO_DELETION_SECONDS = 10 * 365 * 24 * 3600


class Architecture(StrEnum):
    WORKERS_AND_MASTER = "workers_and_master"
    WORKERS_ONLY = "workers_only"

    @property
    def label(self) -> str:
        return "Workers & master" if self is Architecture.WORKERS_AND_MASTER else "Workers only"


class Role(StrEnum):
    """The names of the usual two roles."""

    MASTER = "master"
    WORKER = "worker"


class CleanPodPolicy(StrEnum):
    NONE = "None"
    ALL = "All"
    RUNNING = "Running"


class JobForm(StrEnum):
    """What runs a gang on a cluster that has more than one way."""

    OPERATOR = "Operator"
    INDEXED = "Indexed"
    PER_RANK = "PerRank"

    @property
    def label(self) -> str:
        labels = {
            JobForm.OPERATOR: "The operator's job",
            JobForm.INDEXED: "One Job for all ranks",
            JobForm.PER_RANK: "A Job for each rank",
        }
        return labels[self]


class RestartPolicy(StrEnum):
    ALWAYS = "Always"
    NEVER = "Never"
    ON_FAILURE = "OnFailure"


class LauncherPolicy(StrEnum):
    """When the launcher of an MPI workload starts."""

    AT_STARTUP = "AtStartup"
    WAIT_FOR_WORKERS_READY = "WaitForWorkersReady"


class RelatedUrl(Part):
    """A page elsewhere that belongs to the workload, such as its run at an experiment tracker."""

    name: str = Field("", max_length=63, description="The name")
    url: str = Field(max_length=2000, pattern=WEB_ADDRESS, description="The URL")
    type: str = Field(min_length=1, max_length=63, description="What the page is, such as wandb")


class Replica(Container):
    """What one kind of pod, master or worker, runs and asks for: an image, or where the cluster
    needs none a command alone.

    ``restart_policy`` is what happens to one rank that ended; without one it is started again
    after a failure, as long as the workload's backoff limit allows.
    """

    compute: Compute = Field(Compute(), description="What each pod requests")
    image_pull_secrets: tuple[PullSecret, ...] = Field(
        (), description="Secrets or credentials that images are pulled with"
    )
    restart_policy: RestartPolicy | None = Field(
        None,
        description=(
            "When a rank that ended is started again; if it is null, after a failure, as often as "
            "backoffLimit allows"
        ),
    )
    storage: Storage = Field(Storage(), description="Data sources of the pods")
    node_type: Annotated[LabelValue, Field(min_length=1)] | None = Field(
        None, description="The node type: a label that administrators give to nodes"
    )
    node_affinity_required: NodeAffinity | None = Field(
        None, description="Labels that nodes must have"
    )
    pod_affinity: PodAffinity | None = Field(None, description="Which pods it should be near")
    tolerations: tuple[Toleration, ...] = Field(
        (), description="Taints of nodes that the pods tolerate"
    )
    labels: tuple[Label, ...] = Field((), description="Labels, by name and value")
    annotations: tuple[Annotation, ...] = Field((), description="Annotations of the pods")

    @model_validator(mode="after")
    def _runs_something(self) -> Self:
        if not (self.image or self.command):
            raise ValueError(f"image: {IMAGE_REQUIRED}")
        return self

    @model_validator(mode="after")
    def _labels_are_unique(self) -> Self:
        require_unique_names("labels", self.labels)
        require_unique_names("annotations", self.annotations)
        return self


class NamedRole(Replica):
    """A group of equal pods of a gang, by a name of its own. The gang ends with the pod of the role
    that ``leads``."""

    name: Annotated[str, Field(pattern=K8S_NAME, max_length=LONGEST_ROLE_NAME)] = Field(
        description="The name of the role; its ranks are called NAME-0, NAME-1 and so on"
    )
    count: Whole = Field(1, ge=1, le=MAX_WORKERS, description="How many pods it has")
    leads: Flag = Field(
        False, description="Whether the workload ends with its pod; exactly one role leads"
    )


class GangRole(Part):
    """A role of any gang: one that a document names, or one of the usual two. ``path`` is that of
    ``replica`` in the document, and ``described_by`` the name of the role that has it there: a
    master that inherits is described by the workers."""

    name: str
    count: int
    leads: bool
    replica: Replica
    path: str
    described_by: str


class Pod(Part):
    """One rank of the gang: its place in the world and the replica it is made from.
    ``described_by`` is that of its role."""

    rank: int
    role: str
    index: int
    replica: Replica
    leads: bool = False
    described_by: str = Role.WORKER

    @property
    def name(self) -> str:
        return f"{self.role}-{self.index}"


#: The ``worker`` of a document that has none, until it is checked.
NO_WORKER = Replica.model_construct()
#: What describes the usual master and workers. A gang of named roles has none of it.
USUAL_SHAPE = frozenset(
    {
        *("worker", "master", "num_workers", "architecture"),
        *("min_replicas", "max_replicas", "batch_script"),
    }
)
#: What only a gang of named roles has.
ROLES_SHAPE = frozenset({"roles", "barrier", "ignore_non_lead_status"})


class WorkloadSpec(Part):
    """A distributed training: ``num_workers`` workers and, unless workers-only, one master; or the
    named ``roles``. Of another ``kind`` it is one pod, which ``worker`` describes, without a
    framework.

    ``master`` is ``None`` where the master inherits the workers' setup. The ``worker`` of a gang of
    named roles is the role that leads. :attr:`gang_roles` has the roles of any gang. Times are in
    seconds.
    ``min_replicas`` and ``max_replicas`` bound the workers of an elastic PyTorch training; torchrun
    starts ``processes_per_pod`` in each pod. A shell runs ``setup`` before each program; this
    machine and Slurm run a ``batch_script`` in their place. ``node_pools`` are names, the best
    first.
    """

    kind: WorkloadKind = WorkloadKind.DISTRIBUTED
    distributed_framework: Framework | None = Field(
        None,
        description="The framework; empty for workloads of one pod, and if roles need none",
    )
    architecture: Architecture = Architecture.WORKERS_AND_MASTER
    num_workers: Whole = Field(
        1, ge=1, le=MAX_WORKERS, description="How many workers, besides the master"
    )
    min_replicas: Whole | None = Field(
        None,
        ge=1,
        le=MAX_WORKERS,
        description="The fewest workers that an elastic PyTorch training continues with",
    )
    max_replicas: Whole | None = Field(
        None,
        ge=1,
        le=MAX_WORKERS,
        description="The most workers that an elastic PyTorch training continues with",
    )
    processes_per_pod: Whole | None = Field(
        None,
        ge=1,
        le=MAX_PROCESSES,
        description="How many processes torchrun starts in each pod; one if it is null",
    )
    slots_per_worker: Whole = Field(
        1, ge=1, le=1024, description="MPI: how many processes a worker runs"
    )
    ssh_auth_mount_path: MountPath = Field(
        DEFAULT_SSH_PATH, description="MPI: where the SSH keys are mounted"
    )
    mpi_launcher_creation_policy: LauncherPolicy | None = Field(
        None, description="When the launcher of an MPI workload starts"
    )
    setup: Setup = Field((), description="Lines of shell that run before the command, in each pod")
    batch_script: BatchScript | None = Field(
        None,
        description=(
            "This machine and Slurm: a batch script that runs unchanged and starts the ranks itself"
        ),
    )
    worker: Replica = NO_WORKER
    master: Replica | None = None
    roles: tuple[NamedRole, ...] = Field(
        (),
        max_length=MAX_ROLES,
        description=(
            "Roles with names of their own, in the order of their ranks; in place of a master and "
            "workers"
        ),
    )
    barrier: Flag = Field(
        True, description="Roles: whether programs start only once every rank is ready"
    )
    ignore_non_lead_status: Flag = Field(
        False,
        description=(
            "Roles: whether a failed rank of a role that does not lead leaves the others running"
        ),
    )
    node_pools: tuple[PoolName, ...] = Field(
        (),
        max_length=MAX_POOLS,
        description=(
            "Names of node pools, the best first; the defaults of the project if it is empty"
        ),
    )
    queue: QueueName | None = Field(
        None,
        description=(
            "Kueue: the name of the LocalQueue that starts the workload; the default of the "
            "project if it is null"
        ),
    )
    topology: Topology | None = Field(
        None, description="Places the pods close together; with the KAI scheduler only"
    )
    priority_class: PriorityClass | None = Field(
        None, description="The priority among the workloads of the project, such as high"
    )
    preemptibility: Preemptibility | None = Field(
        None,
        description=(
            "Whether it may be stopped for a workload with a better claim; if it is null, its "
            "priority decides. Of a semi-preemptible one, minReplicas workers may not"
        ),
    )
    job_form: JobForm | None = Field(
        None,
        description=(
            "Kubernetes: what runs a gang, where more than one way fits; chosen by Trainyard if it "
            "is null"
        ),
    )
    job_labels: tuple[Label, ...] = Field(
        (), description="Kubernetes: labels of the job, as labels are of its pods"
    )
    job_annotations: tuple[Annotation, ...] = Field(
        (), description="Kubernetes: annotations of the job, as annotations are of its pods"
    )
    category: str | None = Field(
        None, min_length=1, max_length=63, description="A word by which you group workloads"
    )
    related_urls: tuple[RelatedUrl, ...] = Field(
        (), description="Pages of other services that belong to the workload"
    )
    backoff_limit: Whole = Field(
        DEFAULT_BACKOFF_LIMIT,
        ge=0,
        le=MAX_BACKOFF_LIMIT,
        description="How many times a failed gang is started again",
    )
    idle_limit_seconds: Whole | None = Field(
        None,
        ge=MIN_IDLE_SECONDS,
        le=MAX_TIME_LIMIT_SECONDS,
        description="After how many seconds without use it is stopped; never if it is null",
    )
    time_limit_seconds: Whole | None = Field(
        None,
        ge=1,
        le=MAX_TIME_LIMIT_SECONDS,
        description="After how many seconds of running it is stopped; never if it is null",
    )
    termination_grace_period_seconds: Whole = Field(
        DEFAULT_GRACE_SECONDS,
        ge=0,
        le=MAX_GRACE_SECONDS,
        description="How many seconds a rank has to end before it is killed",
    )
    auto_deletion_time_after_completion_seconds: Whole = Field(
        DEFAULT_AUTO_DELETION_SECONDS,
        ge=0,
        le=MAX_AUTO_DELETION_SECONDS,
        description="How many seconds after it ended Trainyard deletes the workload",
    )
    clean_pod_policy: CleanPodPolicy | None = Field(
        None, description="Which pods are removed when the workload ends"
    )
    terminate_after_preemption: Flag = Field(
        False, description="Whether it fails when it is preempted, instead of waiting to run again"
    )

    @field_validator("roles")
    @classmethod
    def _roles_make_a_gang(cls, roles: tuple[NamedRole, ...]) -> tuple[NamedRole, ...]:
        """A single role leads, even if it does not say so."""
        if len(roles) == 1:
            roles = (roles[0].model_copy(update={"leads": True}),)
        if roles:
            _require_one_lead(roles)
            _require_unique_hosts(roles)
        if sum(role.count for role in roles) > MAX_PODS:
            raise ValueError(f"have more than {MAX_PODS} pods together")
        return roles

    @model_validator(mode="after")
    def _shape_is_one_of_two(self) -> Self:
        """Set the ``worker`` of a gang of named roles."""
        foreign = USUAL_SHAPE if self.roles else ROLES_SHAPE
        for name in sorted(foreign & self.model_fields_set):
            field = WorkloadSpec.model_fields[name]
            value = getattr(self, name)
            if self.roles and value is not None:
                raise ValueError(f"{field.alias}: leave it out, because roles describe all pods")
            if not self.roles and value != field.default:
                raise ValueError(f"{field.alias}: only workloads with roles have it; leave it out")
        if self.roles:
            lead = next(role for role in self.roles if role.leads)
            self.__dict__["worker"] = lead  # the model is frozen
        elif self.worker is NO_WORKER:
            raise ValueError(f"worker: {REQUIRED}")
        return self

    @model_validator(mode="after")
    def _roles_fit_the_framework(self) -> Self:
        if not self.roles:
            return self
        framework = self.distributed_framework
        if self.framework_traits.head is Head.LAUNCHER:
            raise ValueError(
                f"distributedFramework: {framework} starts its workers by a launcher; leave roles "
                "out"
            )
        allowed = self.framework_traits.roles
        for role in self.roles if allowed else ():
            if role.name not in allowed:
                raise ValueError(
                    f"roles: {role.name} is no role of {self.framework_traits.label}; it has "
                    f"{', '.join(allowed)}"
                )
        return self

    @model_validator(mode="after")
    def _fields_are_the_kinds(self) -> Self:
        if self.kind.is_gang and self.distributed_framework is None and not self.roles:
            raise ValueError("distributedFramework: is required")
        lacks = self.kind.traits.foreign_fields
        for name, field in WorkloadSpec.model_fields.items() if lacks else ():
            others = lacks.get(field.alias or name)
            if others and getattr(self, name) != field.default:
                raise ValueError(f"{field.alias}: only {others} have it; leave it out")
        return self

    @model_validator(mode="after")
    def _master_needs_a_place(self) -> Self:
        if self.master and self.architecture is Architecture.WORKERS_ONLY:
            raise ValueError("master: a workers-only workload has no master")
        return self

    @model_validator(mode="after")
    def _elasticity_holds(self) -> Self:
        least = self.min_replicas
        most = self.max_replicas
        if least is not None and least > self.num_workers:
            raise ValueError("minReplicas: must not be more than the number of workers")
        if most is not None and most < self.num_workers:
            raise ValueError("maxReplicas: must not be less than the number of workers")
        return self

    @model_validator(mode="after")
    def _semi_preemptible_has_a_minimum(self) -> Self:
        is_semi = self.preemptibility is Preemptibility.SEMI_PREEMPTIBLE
        if is_semi and self.min_replicas is None:
            raise ValueError(
                "preemptibility: semi-preemptible guarantees minReplicas workers, which only "
                "elastic PyTorch workloads have; set minReplicas or choose another"
            )
        return self

    @model_validator(mode="after")
    def _fields_are_the_frameworks(self) -> Self:
        for attribute, owner in _owned_fields():
            field = type(self).model_fields[attribute]
            given = getattr(self, attribute)
            if field.alias in self.kind.traits.shares:
                continue
            if owner is not self.distributed_framework and given != field.default:
                message = f"only {owner.label} workloads have it; leave it out"
                raise ValueError(f"{field.alias}: {message}")
        return self

    @model_validator(mode="after")
    def _labels_are_unique(self) -> Self:
        require_unique_names("jobLabels", self.job_labels)
        require_unique_names("jobAnnotations", self.job_annotations)
        return self

    @model_validator(mode="after")
    def _pools_are_unique(self) -> Self:
        if len(set(self.node_pools)) < len(self.node_pools):
            raise ValueError("nodePools: names each pool once")
        return self

    @property
    def first_pool(self) -> str:
        """The node pool that it prefers."""
        return self.node_pools[0] if self.node_pools else DEFAULT_POOL

    @property
    def is_elastic(self) -> bool:
        return self.min_replicas is not None or self.max_replicas is not None

    @property
    def guaranteed_part(self) -> "WorkloadSpec | None":
        """What is never taken back once it runs, and so has to stay within the quota: everything,
        the minimum of workers, or nothing."""
        match self.preemptibility:
            case Preemptibility.NON_PREEMPTIBLE:
                return self
            case Preemptibility.SEMI_PREEMPTIBLE:
                return self.model_copy(update={"num_workers": self.min_replicas})
        return None

    @property
    def has_master(self) -> bool:
        return self.kind.is_gang and self.architecture is Architecture.WORKERS_AND_MASTER

    @property
    def framework_traits(self) -> Traits:
        return self.distributed_framework.traits if self.distributed_framework else NO_FRAMEWORK

    @property
    def master_replica(self) -> Replica | None:
        """The master's setup, its own or the workers'; ``None`` for workers only.

        A launcher that inherits does without the workers' GPUs: it only starts them.
        """
        if not self.has_master or self.master:
            return self.master
        if self.framework_traits.head is Head.LAUNCHER:
            return self.worker.model_copy(update={"compute": self.worker.compute.without_devices})
        return self.worker

    @property
    def gang_roles(self) -> tuple[GangRole, ...]:
        """The roles in the order of their ranks: the named ones, or the master, if there is one,
        before the workers."""
        make = GangRole.model_construct  # of replicas that were judged
        if self.roles:
            return tuple(
                make(
                    name=role.name,
                    count=role.count,
                    leads=role.leads,
                    replica=role,
                    path=f"roles[{number}]",
                    described_by=role.name,
                )
                for number, role in enumerate(self.roles)
            )
        workers = make(
            name=Role.WORKER,
            count=self.num_workers,
            leads=False,
            replica=self.worker,
            path="worker",
            described_by=Role.WORKER,
        )
        replica = self.master_replica
        if replica is None:
            return (workers,)
        describing = Role.MASTER if self.master else Role.WORKER
        master = make(
            name=Role.MASTER,
            count=1,
            leads=True,
            replica=replica,
            path=describing.value,
            described_by=describing,
        )
        return master, workers

    @property
    def described_roles(self) -> tuple[GangRole, ...]:
        """The roles that the document describes: all but a master that inherits. The workers come
        before their master."""
        own = [role for role in self.gang_roles if role.name == role.described_by]
        return tuple(own if self.roles else reversed(own))

    @property
    def demand_path(self) -> Path:
        """The path for a problem with what all pods request together."""
        return ("roles",) if self.roles else ("worker", "compute")

    @property
    def num_pods(self) -> int:
        if self.roles:
            return sum(role.count for role in self.roles)
        return self.num_workers + int(self.has_master)

    @property
    def world_size(self) -> int:
        """Ranks as the framework counts them, who start when each pod does as it is asked."""
        return self.num_pods * (self.processes_per_pod or 1)

    @property
    def pods(self) -> tuple[Pod, ...]:
        """Every rank in order, role by role: a master is rank 0, worker *i* follows (Kubeflow's
        numbering)."""
        make = Pod.model_construct  # of replicas that were judged, not for each rank again
        members = [(role, index) for role in self.gang_roles for index in range(role.count)]
        return tuple(
            make(
                rank=rank,
                role=role.name,
                index=index,
                replica=role.replica,
                leads=role.leads,
                described_by=role.described_by,
            )
            for rank, (role, index) in enumerate(members)
        )

    @property
    def depends_on_gpu_memory(self) -> bool:
        """Whether :meth:`gpus` depends on the memory of the devices."""
        computes = (role.replica.compute for role in self.gang_roles)
        return any(compute.gpu_request_type is GpuRequestType.MEMORY for compute in computes)

    def gpus(self, device_memory: int = 0) -> float:
        """GPUs of the whole gang. Rounded, so that 3 times 0.1 is 0.3."""
        return round(self._sum(lambda compute: compute.gpus(device_memory)), 4)

    @property
    def cpu_cores(self) -> float:
        return round(self._sum(lambda compute: compute.cpu_core_request), 4)

    @property
    def memory_bytes(self) -> int:
        return int(self._sum(lambda compute: compute.memory_bytes))

    def _sum(self, of: Callable[[Compute], float]) -> float:
        """Over the gang: all pods of a role ask for the same."""
        return sum(of(role.replica.compute) * role.count for role in self.gang_roles)


def _require_one_lead(roles: Iterable[NamedRole]) -> None:
    leads = [role for role in roles if role.leads]
    if not leads:
        raise ValueError("none of them leads; set leads: true for the one with which all end")
    if len(leads) > 1:
        names = " and ".join(role.name for role in leads)
        raise ValueError(f"{names} lead; set leads: true for one of them only")
    if leads[0].count > 1:
        raise ValueError(f"{leads[0].name} leads, so its count must be 1")


def _require_unique_hosts(roles: Iterable[NamedRole]) -> None:
    """Refuse names by which two ranks would have one host name."""
    owners: dict[str, str] = {}
    for role in roles:
        if role.name in owners and owners[role.name] == role.name:
            raise ValueError(f"name {role.name} twice; each role has a name of its own")
        for host in (role.name, *(f"{role.name}-{index}" for index in range(role.count))):
            if host in owners:
                raise ValueError(
                    f"{owners[host]} and {role.name} both have the host name {host}; rename one"
                )
            owners[host] = role.name


@cache
def _owned_fields() -> tuple[tuple[str, Framework], ...]:
    """The fields that workloads of one framework have, and that framework."""
    fields = WorkloadSpec.model_fields.items()
    owners = ((name, framework_with(str(field.alias))) for name, field in fields)
    return tuple((name, owner) for name, owner in owners if owner)
