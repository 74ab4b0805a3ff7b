"""The queues of clusters that hold to quotas themselves: what they should be, and since when."""

from typing import Any

import pytest
from celery import current_app
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks

from clusters import connections
from clusters.models import Cluster, NodePool
from engines.base import EngineRefused
from engines.fake import FakeEngine
from engines.queues import Queue
from projects import departments, queues, services, tasks
from tests.clusters.answering import answers
from tests.factories import ClusterFactory, DepartmentFactory, ProjectFactory, UserFactory

pytestmark = pytest.mark.django_db
CHANGED: dict[str, Any] = {
    "name": "vision",
    "department": "research",
    "description": "",
    "cpu_quota": 2.0,
    "memory_quota": 10**9,
    "over_quota": False,
    "members": (),
}


@pytest.fixture
def cluster() -> Cluster:
    return ClusterFactory(kind="kubernetes", capabilities_json={"queues": True, "quotas": True})


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    """Changes in a task are done at once."""
    made = FakeEngine(queues=True, quotas=True)
    answers(monkeypatch, "kubernetes", lambda cluster: made)

    def send(name: str, ids: list[str], **where: Any) -> None:
        assert name == "projects.keep_queues"
        tasks.keep_queues(*ids)

    monkeypatch.setattr(current_app, "send_task", send)
    connections.forget_engines()
    return made


def test_a_department_has_what_its_projects_have(
    cluster: Cluster, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    research = DepartmentFactory(cluster=cluster, name="research")
    common: dict[str, Any] = {"cluster": cluster, "department": research}
    ProjectFactory(name="a", gpu_quota=0.1, cpu_quota=2, memory_quota=10**9, **common)
    ProjectFactory(name="b", gpu_quota=0.2, cpu_quota=3, over_quota=False, **common)
    DepartmentFactory(cluster=cluster, name="empty")
    ProjectFactory(name="elsewhere")
    with django_assert_num_queries(2):
        found = queues.wanted_queues(cluster)
    assert found == [
        Queue("research", "", gpus=0.3, cpu=5, memory=None, weight=1),
        Queue("a", "research", gpus=0.1, cpu=2, memory=10**9, weight=1, priority=100),
        Queue("b", "research", gpus=0.2, cpu=3, memory=None, weight=0, priority=100),
    ]


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({}, {"gpus": 3, "cpu": 5, "memory": None, "weight": 1}),
        ({"gpu_quota": 2}, {"gpus": 2, "cpu": 5, "memory": None, "weight": 1}),
        (
            {"gpu_quota": 8, "cpu_quota": 4, "memory_quota": 10**9},
            {"gpus": 8, "cpu": 4, "memory": 10**9, "weight": 1},
        ),
        ({"over_quota": False}, {"gpus": 3, "cpu": 5, "memory": None, "weight": 0}),
        (
            {"gpu_quota": 0, "over_quota": False},
            {"gpus": 0, "cpu": 5, "memory": None, "weight": 0},
        ),
    ],
)
def test_a_department_has_its_own_quota_before_that_of_its_projects(
    cluster: Cluster, own: dict[str, Any], expected: dict[str, Any]
) -> None:
    research = DepartmentFactory(cluster=cluster, name="research", **own)
    common: dict[str, Any] = {"cluster": cluster, "department": research}
    ProjectFactory(name="a", gpu_quota=1, cpu_quota=2, **common)
    ProjectFactory(name="b", gpu_quota=2, cpu_quota=3, over_quota=False, **common)
    assert queues.wanted_queues(cluster)[0] == Queue("research", "", **expected)


def test_a_department_may_go_over_a_quota_that_its_projects_keep(cluster: Cluster) -> None:
    """Each within its own, and together more than the department's."""
    research = DepartmentFactory(cluster=cluster, gpu_quota=2)
    ProjectFactory.create_batch(2, cluster=cluster, department=research, over_quota=False)
    assert (queues.wanted_queues(cluster)[0].gpus, queues.wanted_queues(cluster)[0].weight) == (
        2,
        1,
    )


def test_each_pool_has_queues_of_its_own(
    cluster: Cluster, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    a100 = NodePool.objects.create(
        cluster=cluster, name="a100", label_key="gpu", label_value="a100"
    )
    research = DepartmentFactory(cluster=cluster, name="research")
    common: dict[str, Any] = {"cluster": cluster, "department": research, "gpu_quota": 1}
    first = ProjectFactory(name="a", **common)
    ProjectFactory(name="b", over_quota_weight=2, rank="high", **common)
    first.pool_quotas.create(
        pool=a100, gpu_quota=8, gpu_limit=16, over_quota_weight=4, rank="very-low"
    )
    with django_assert_num_queries(4):
        found = queues.wanted_queues(cluster)
    no_limits: dict[str, Any] = {"cpu": None, "memory": None}
    assert found == [
        Queue("research", "", 2, weight=3, **no_limits),
        Queue("a", "research", 1, weight=1, priority=100, **no_limits),
        Queue("b", "research", 1, weight=2, priority=130, **no_limits),
        Queue("research", "", 8, weight=5, pool="a100", **no_limits),
        Queue("a", "research", 8, weight=4, gpu_limit=16, priority=80, pool="a100", **no_limits),
        Queue("b", "research", 0, weight=1, priority=100, pool="a100", **no_limits),
    ]
    research.pool_quotas.create(pool=a100, gpu_limit=10, over_quota_weight=7)
    queue = queues.wanted_queues(cluster)[3]
    assert (queue.gpus, queue.gpu_limit, queue.weight) == (8, 10, 7)


def test_queues_of_a_cluster_follow_each_change_of_projects(
    cluster: Cluster,
    engine: FakeEngine,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    by = UserFactory(administrator=True)
    with django_capture_on_commit_callbacks(execute=True):
        project = services.create_project(by=by, name="vision", cluster=cluster, gpu_quota=1)
    assert {(it.name, it.department, it.gpus) for it in engine.kept} == {
        ("default", "", 1),
        ("vision", "default", 1),
    }
    with django_capture_on_commit_callbacks(execute=True):
        services.update_project(project, by=by, gpu_quota=3, **CHANGED)
    assert engine.kept == [
        Queue("research", "", gpus=3, cpu=2, memory=10**9, weight=0),
        Queue("vision", "research", gpus=3, cpu=2, memory=10**9, weight=0, priority=100),
    ]
    with django_capture_on_commit_callbacks(execute=True):
        services.delete_project(project, by=by)
    assert engine.kept == []


def test_queues_of_a_cluster_follow_the_quota_of_a_department(
    cluster: Cluster,
    engine: FakeEngine,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    project = ProjectFactory(cluster=cluster, name="vision", gpu_quota=3)
    with django_capture_on_commit_callbacks(execute=True):
        departments.update_department(
            project.department,
            by=UserFactory(administrator=True),
            name="research",
            gpu_quota=2,
            cpu_quota=None,
            memory_quota=10**9,
            over_quota=False,
        )
    assert engine.kept == [
        Queue("research", "", gpus=2, cpu=None, memory=10**9, weight=0),
        Queue("vision", "research", gpus=3, cpu=None, memory=None, weight=1, priority=100),
    ]


def test_a_refusal_keeps_no_project_back(
    cluster: Cluster,
    engine: FakeEngine,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    engine.refuses_queues = EngineRefused("The cluster refused: forbidden")
    by = UserFactory(administrator=True)
    with django_capture_on_commit_callbacks(execute=True):
        assert services.create_project(by=by, name="vision", cluster=cluster).pk


def test_a_cluster_that_knows_no_quotas_is_not_asked(
    engine: FakeEngine, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    cluster = ClusterFactory(kind="kubernetes", capabilities_json={"queues": True})
    by = UserFactory(administrator=True)
    with django_capture_on_commit_callbacks() as callbacks:
        services.create_project(by=by, name="vision", cluster=cluster)
    assert (callbacks, engine.kept) == ([], [])
