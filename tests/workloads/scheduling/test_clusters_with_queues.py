"""Clusters with a queue of their own: handed over at once, and held to quota at submission."""

from collections.abc import Callable

import pytest

from accounts.models import User
from engines.base import EngineUnavailable
from engines.fake import FakeEngine
from engines.logs import Log
from projects.models import Project
from spec.phases import Phase, Reason
from tests.factories import WorkloadFactory
from tests.workloads.gangs import draft, now
from workloads import reconcile, services
from workloads.models import Workload
from workloads.plan import plan
from workloads.worker import collect, dispatch, monitor

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(engine: FakeEngine, project: Project) -> Project:
    engine.queues = True
    project.cluster.capabilities_json["queues"] = True
    project.cluster.save()
    return project


@pytest.mark.usefixtures("valkey")
def test_a_cluster_with_its_own_queue_gets_a_workload_at_once(
    engine: FakeEngine, project: Project
) -> None:
    workload = WorkloadFactory(project=project)
    dispatch.hand_over(project.cluster)
    assert [launch.handle for launch in engine.launches] == [workload.handle]
    seen = engine.show(workload.handle, Phase.PENDING, reason=Reason.WAITING_FOR_CAPACITY)
    reconcile.apply(workload, seen)
    assert (now(workload).phase, now(workload).reason) == (Phase.PENDING, seen.reason)


def test_room_is_the_schedulers_to_judge(project: Project, member: User) -> None:
    assert plan(draft(project, gpus=64), by=member).is_submittable


@pytest.mark.parametrize("phase", [Phase.CREATING, Phase.PENDING, Phase.RUNNING, Phase.RESUMING])
@pytest.mark.parametrize(("gpus", "fits"), [(3, True), (4, False)])
def test_quota_counts_all_that_is_not_over(
    phase: Phase, gpus: int, fits: bool, project: Project, member: User
) -> None:
    Project.objects.update(over_quota=False)
    WorkloadFactory(project=project, phase=phase, gpus=1)
    for over in ({"stopped": True}, {"completed": True}, {"failed": True}):
        WorkloadFactory(project=project, gpus=4, **over)
    assert plan(draft(project, gpus), by=member).is_submittable is fits


def test_quota_holds_when_a_workload_runs_again(project: Project, member: User) -> None:
    Project.objects.update(over_quota=False)
    workload = WorkloadFactory(project=project, stopped=True, gpus=2)
    other = WorkloadFactory(project=project, pending=True, gpus=3)
    with pytest.raises(services.NotPossible, match="5 GPUs, the quota is 4"):
        services.resume(workload, by=member)
    assert now(workload).phase == Phase.STOPPED
    Workload.objects.filter(pk=other.pk).update(phase=Phase.COMPLETED)
    services.resume(workload, by=member)
    assert now(workload).phase == Phase.RESUMING


@pytest.mark.parametrize(("gpus", "fits"), [(4, True), (5, False)])
def test_a_queue_that_knows_quotas_decides_for_itself(
    gpus: int, fits: bool, project: Project, member: User
) -> None:
    """But what is more than the whole quota would wait in it for ever."""
    Project.objects.update(over_quota=False)
    project.cluster.capabilities_json["quotas"] = True
    project.cluster.save()
    WorkloadFactory(project=project, running=True, gpus=4)
    assert plan(draft(project, gpus), by=member).is_submittable is fits


@pytest.mark.usefixtures("valkey")
def test_each_turn_of_the_monitor_keeps_the_queues_as_the_quotas(
    engine: FakeEngine, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitor, "TURN_SECONDS", 0.0)
    engine.quotas = True
    assert monitor.watch_cluster(project.cluster)
    assert {queue.name for queue in engine.kept} == {project.name, project.department.name}


def test_a_node_that_is_away_keeps_back_its_own_output_only(
    engine: FakeEngine, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    away, well = (WorkloadFactory(project=project, running=True) for _ in range(2))
    find: Callable[..., list[Log]] = engine.logs

    def fail(handle: object, *, run: int) -> list[Log]:
        if handle == away.handle:
            raise EngineUnavailable("The node is away.")
        return find(handle, run=run)

    monkeypatch.setattr(engine, "logs", fail)
    Workload.objects.update(phase=Phase.COMPLETED)
    for _ in range(2):
        collect.collect_output(project.cluster)
    assert [now(workload).logs_complete for workload in (away, well)] == [False, True]


@pytest.mark.usefixtures("valkey")
def test_a_turn_ends_when_nobody_answers_any_more(
    engine: FakeEngine, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(_cluster: object) -> None:
        engine.raises = EngineUnavailable("It went away.")

    monkeypatch.setattr(collect, "collect_output", cut)
    assert monitor.watch_cluster(project.cluster) is False
