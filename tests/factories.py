"""Rows for tests. A trait names what is special about a row: ``WorkloadFactory(running=True)``."""

from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.utils import timezone
from factory.declarations import LazyFunction, SelfAttribute, Sequence, SubFactory, Trait
from factory.django import DjangoModelFactory, Password
from factory.helpers import post_generation

from accounts.access import ACCOUNT, forget_rules, scope_key
from accounts.models import AccessRole, AccessRule, User, UserGroup
from accounts.permissions import ADMINISTRATOR, RESEARCHER
from assets.models import ComputeResource, Credential, DataSource, Environment, Template
from clusters.models import Cluster, Node, State
from clusters.nodes import store
from engines.base import Capabilities, FrameworkSupport
from engines.nodes import Gpu, NodeInfo
from projects.models import Department, Project
from projects.scopes import Scope
from spec.formats import documents
from spec.framework import Framework
from spec.phases import Phase, RankPhase
from spec.workload import WorkloadSpec
from tests.standard import STANDARD, WORKSPACE
from workloads.models import Rank, Workload

PASSWORD = "a-long-test-password"
IMAGE = "kubeflow/pytorch-dist-mnist:latest"
GPU_MEMORY = 16_000_000_000


class UserFactory(DjangoModelFactory[User]):
    class Meta:
        model = User
        skip_postgeneration_save = True

    username = Sequence("user-{}".format)
    password = Password(PASSWORD)

    @post_generation
    def administrator(self: User, create: bool, extracted: bool, **kwargs: Any) -> None:
        if extracted:
            give(self, ADMINISTRATOR.name, ACCOUNT)


def give(subject: User | UserGroup, role: str, scope: str, **values: Any) -> AccessRule:
    """Give a role by its name in the scope with this key."""
    column = "user" if isinstance(subject, User) else "group"
    row = AccessRole.objects.get(name=role)
    rule, _ = AccessRule.objects.get_or_create(
        **{column: subject}, role=row, scope=scope, defaults=values
    )
    if isinstance(subject, User):
        forget_rules(subject)
    return rule


def add_members(project: Project, *users: User) -> None:
    for user in users:
        give(user, RESEARCHER.name, scope_key("project", project.pk))


def remove_members(project: Project, *users: User) -> None:
    """Take all roles in a project itself from these users, or from everyone."""
    rules = AccessRule.objects.filter(scope=scope_key("project", project.pk))
    (rules.filter(user__in=users) if users else rules).delete()
    forget_rules(*users)


def all_frameworks() -> dict[str, Any]:
    """Return the capabilities of a cluster that runs every framework."""
    supports = tuple(FrameworkSupport(f, available=True, operator="local") for f in Framework)
    return asdict(Capabilities(frameworks=supports, queues=False, terminal=True))


class NodeFactory(DjangoModelFactory[Node]):
    class Meta:
        model = Node

    cluster = SubFactory("tests.factories.ClusterFactory", nodes=0)
    name = Sequence("node-{}".format)
    cpu = 8.0
    memory = 32_000_000_000
    gpus_json = LazyFunction(
        lambda: [asdict(Gpu(i, "Virtual GPU", GPU_MEMORY, virtual=True)) for i in range(4)]
    )


class ClusterFactory(DjangoModelFactory[Cluster]):
    """A connected local cluster with one node, or ``nodes=n``, of 4 virtual GPUs each."""

    class Meta:
        model = Cluster
        skip_postgeneration_save = True

    name = Sequence("local-{}".format)
    kind = "local"
    state = State.CONNECTED
    checked_at = LazyFunction(timezone.now)
    capabilities_json = LazyFunction(all_frameworks)

    @post_generation
    def nodes(self, create: bool, extracted: int | None, **kwargs: Any) -> None:
        made = NodeFactory.create_batch(1 if extracted is None else extracted, cluster=self)
        seen = [NodeInfo(node.name, node.cpu, node.memory, node.gpus) for node in made]
        store.store_totals(self, seen)


class DepartmentFactory(DjangoModelFactory[Department]):
    class Meta:
        model = Department

    name = Sequence("department-{}".format)
    cluster = SubFactory(ClusterFactory)


class ProjectFactory(DjangoModelFactory[Project]):
    """``members=[user]`` adds members."""

    class Meta:
        model = Project
        skip_postgeneration_save = True

    name = Sequence("team-{}".format)
    cluster = SubFactory(ClusterFactory)
    department = SubFactory(DepartmentFactory, cluster=SelfAttribute("..cluster"))
    gpu_quota = 4.0

    @post_generation
    def members(self: Project, create: bool, extracted: list[User] | None, **kwargs: Any) -> None:
        add_members(self, *(extracted or []))


SHARE = {"server": "nfs.example.com", "path": "/export", "mountPath": "/data"}
TENTH = {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.1}


class _AssetFactory(DjangoModelFactory[Any]):
    """An asset of a project, unless ``in_account``, ``in_cluster`` or ``in_department``."""

    class Meta:
        abstract = True

    class Params:
        home = SubFactory(ProjectFactory)
        in_account = Trait(scope=Scope.ACCOUNT, project=None, cluster=None)
        in_cluster = Trait(scope=Scope.CLUSTER, project=None)
        in_department = Trait(
            scope=Scope.DEPARTMENT,
            project=None,
            department=SelfAttribute("home.department"),
        )

    scope = Scope.PROJECT
    project = SelfAttribute("home")
    cluster = SelfAttribute("home.cluster")


class EnvironmentFactory(_AssetFactory):
    class Meta:
        model = Environment

    name = Sequence("environment-{}".format)
    spec_json = LazyFunction(lambda: {"image": IMAGE})


class ComputeResourceFactory(_AssetFactory):
    """A request for a tenth of one GPU."""

    class Meta:
        model = ComputeResource

    name = Sequence("compute-{}".format)
    spec_json = LazyFunction(lambda: dict(TENTH))


class DataSourceFactory(_AssetFactory):
    """An NFS share, mounted at ``/data``."""

    class Meta:
        model = DataSource

    name = Sequence("data-{}".format)
    spec_json = LazyFunction(lambda: {"kind": "nfs", "nfs": SHARE})


class CredentialFactory(_AssetFactory):
    """A generic secret with one key, ``token``. Its value is passed as ``entered={"token": …}``."""

    class Meta:
        model = Credential

    name = Sequence("credential-{}".format)
    spec_json = LazyFunction(lambda: {"kind": "genericSecret", "keys": ["token"]})


class TemplateFactory(_AssetFactory):
    class Meta:
        model = Template

    name = Sequence("template-{}".format)
    draft_json = LazyFunction(lambda: {"framework": "PyTorch", "values": {"numWorkers": 2}})


def workload_spec(workers: int = 2) -> WorkloadSpec:
    worker = {"image": IMAGE, "compute": TENTH}
    return documents.load_spec(
        {"distributedFramework": "PyTorch", "numWorkers": workers, "worker": worker}
    )


def _phase(phase: Phase, **also: Any) -> Trait:
    return Trait(phase=phase, **also)


def _ago(minutes: int) -> LazyFunction:
    return LazyFunction(lambda: timezone.now() - timedelta(minutes=minutes))


class WorkloadFactory(DjangoModelFactory[Workload]):
    """A workload with one master and two workers, each with a tenth of a GPU, and its ranks."""

    class Meta:
        model = Workload
        skip_postgeneration_save = True

    class Params:
        standard = Trait(**STANDARD)
        workspace = Trait(**WORKSPACE)
        pending = _phase(Phase.PENDING)
        initializing = _phase(Phase.INITIALIZING)
        running = _phase(Phase.RUNNING, started_at=_ago(5), running_pods=3, observed_run=1)
        degraded = _phase(Phase.DEGRADED, started_at=_ago(5), running_pods=2, observed_run=1)
        stopping = _phase(Phase.STOPPING, started_at=_ago(5), observed_run=1)
        stopped = _phase(Phase.STOPPED, started_at=_ago(5))
        completed = _phase(Phase.COMPLETED, started_at=_ago(5), completed_at=_ago(1))
        failed = _phase(Phase.FAILED, started_at=_ago(5), completed_at=_ago(1))
        deleting = _phase(Phase.DELETING)
        unknown = _phase(Phase.UNKNOWN)

    name = Sequence("workload-{}".format)
    project = SubFactory(ProjectFactory)
    cluster = SelfAttribute("project.cluster")
    created_by = SubFactory(UserFactory)
    spec_json = LazyFunction(lambda: documents.dump_spec(workload_spec()))
    phase = Phase.CREATING
    framework = "PyTorch"
    architecture = "workers_and_master"
    image = IMAGE
    num_pods = 3
    gpus = 0.3
    cpu_cores = 0.3
    memory_bytes = 300_000_000

    @post_generation
    def author(self: Workload, create: bool, extracted: None, **kwargs: Any) -> None:
        if self.created_by:
            add_members(self.project, self.created_by)

    @post_generation
    def ranks(self: Workload, create: bool, extracted: RankPhase | None, **kwargs: Any) -> None:
        phase = extracted or _rank_phase(Phase(self.phase))
        Rank.objects.bulk_create(
            Rank(workload=self, rank=pod.rank, role=pod.role, index=pod.index, phase=phase)
            for pod in self.spec.pods
        )


def _rank_phase(phase: Phase) -> RankPhase:
    return {
        **dict.fromkeys((Phase.RUNNING, Phase.DEGRADED), RankPhase.RUNNING),
        Phase.STOPPED: RankPhase.STOPPED,
        Phase.COMPLETED: RankPhase.SUCCEEDED,
        Phase.FAILED: RankPhase.FAILED,
    }.get(phase, RankPhase.PENDING)
