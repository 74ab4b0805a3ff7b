"""A script may start more ranks than it requested: each of them is a rank of the workload."""

from dataclasses import replace
from pathlib import Path

import pytest
from pytest_django import Settings

from clusters.models import Cluster
from engines.base import Observation, RankState
from engines.fake import FakeEngine
from spec.phases import Phase, RankPhase
from spec.workload import Role
from tests.caller import Caller
from tests.factories import UserFactory, WorkloadFactory, add_members
from tests.web import signed_in
from tests.workloads.gangs import now
from workloads import logs
from workloads.launch import launch_with_secrets
from workloads.models import Workload
from workloads.worker import monitor, relist


@pytest.fixture
def output(settings: Settings, tmp_path: Path) -> None:
    settings.LOG_STORE = tmp_path


@pytest.fixture
def workload(db: None, engine: FakeEngine) -> Workload:
    """A gang of three that runs on a cluster with a queue of its own."""
    engine.queues = True
    made: Workload = WorkloadFactory(running=True)
    made.cluster.capabilities_json["queues"] = True
    made.cluster.save()
    engine.submit(launch_with_secrets(made))
    return made


def started(engine: FakeEngine, workload: Workload, count: int, phase: Phase) -> Observation:
    states = [RankState(0, Role.MASTER, 0, RankPhase.RUNNING)]
    states += [
        RankState(number, Role.WORKER, number - 1, RankPhase.RUNNING) for number in range(1, count)
    ]
    shown = engine.show(workload.handle, phase, ranks=states)
    return replace(shown, has_own_ranks=True)


@pytest.mark.parametrize("phase", [Phase.RUNNING, Phase.COMPLETED])
def test_ranks_beyond_the_requested_ones_are_added_without_a_demand(
    engine: FakeEngine, workload: Workload, phase: Phase
) -> None:
    before = (workload.gpus, workload.cpu_cores, workload.memory_bytes)
    monitor.apply_observation(started(engine, workload, 5, phase))
    after = now(workload)
    assert [rank.name for rank in after.ranks.all()][3:] == ["worker-2", "worker-3"]
    assert (after.num_pods, after.ranks.get(rank=4).phase) == (5, RankPhase.RUNNING)
    assert (after.gpus, after.cpu_cores, after.memory_bytes) == before
    texts = [event.message for event in after.events.all()]
    assert "Its script started more ranks than it requested: 5 in all." in texts


@pytest.mark.usefixtures("output")
def test_pages_and_rest_show_the_further_ranks(engine: FakeEngine, workload: Workload) -> None:
    monitor.apply_observation(started(engine, workload, 4, Phase.RUNNING))
    logs.append(logs.Stream(workload.pk, 1, 0, 3), b"printed by the fourth\n")
    owner = UserFactory()
    add_members(workload.project, owner)
    page = signed_in(owner)
    assert "worker-2" in page.get(f"/workloads/{workload.pk}/ranks/").content.decode()
    lines = page.get(f"/workloads/{workload.pk}/logs/lines/").content.decode()
    assert "printed by the fourth" in lines
    call = Caller(owner)
    _, answer = call("GET", f"/workloads/{workload.pk}/pods")
    assert [pod["name"] for pod in answer["pods"]][3:] == [f"{workload.name}-worker-2"]
    assert call("GET", f"/workloads/{workload.pk}/logs?rank=3")[0] == 200
    assert call("GET", f"/workloads/{workload.pk}/logs?rank=4")[0] == 404


def test_fewer_ranks_than_requested_remove_none(engine: FakeEngine, workload: Workload) -> None:
    monitor.apply_observation(started(engine, workload, 2, Phase.RUNNING))
    assert (now(workload).num_pods, now(workload).ranks.count()) == (3, 3)


def test_a_list_with_further_ranks_is_not_known_yet(engine: FakeEngine, workload: Workload) -> None:
    cluster = Cluster.objects.get()
    monitor.apply_observation(started(engine, workload, 3, Phase.RUNNING))
    further = started(engine, workload, 4, Phase.RUNNING)
    assert list(relist.changed_observations(cluster, [further])) == [further]
    monitor.apply_observation(further)
    assert list(relist.changed_observations(cluster, [further])) == []
