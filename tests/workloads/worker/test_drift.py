"""What somebody does on the cluster itself, past Trainyard."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from clusters.models import Cluster
from engines.base import EngineRefused, RankState
from engines.fake import FakeEngine
from spec.phases import Phase, RankPhase, Reason
from spec.workload import Role
from tests.factories import WorkloadFactory
from tests.workloads.gangs import now
from workloads import reconcile, services
from workloads.launch import launch_with_secrets
from workloads.models import Workload
from workloads.worker import drift, monitor, relist


@pytest.fixture
def workload(db: None, engine: FakeEngine) -> Workload:
    """A gang that runs on a cluster with a queue of its own."""
    engine.queues = True
    made: Workload = WorkloadFactory(running=True)
    made.cluster.capabilities_json["queues"] = True
    made.cluster.save()
    engine.submit(launch_with_secrets(made))
    monitor.apply_observation(engine.show(made.handle, Phase.RUNNING))
    return now(made)


def test_a_job_suspended_there_is_stopped(engine: FakeEngine, workload: Workload) -> None:
    monitor.apply_observation(
        engine.show(workload.handle, Phase.STOPPING, reason=Reason.STOPPED_BY_USER)
    )
    assert now(workload).message == reconcile.STOPPED_THERE
    monitor.apply_observation(
        engine.show(workload.handle, Phase.STOPPED, reason=Reason.STOPPED_BY_USER)
    )
    after = now(workload)
    assert (after.phase, after.message) == (Phase.STOPPED, reconcile.STOPPED_THERE)


def test_time_that_the_cluster_does_not_date_counts_until_it_is_seen(
    engine: FakeEngine, workload: Workload
) -> None:
    """A stop leaves no date on the cluster before its pods are gone."""
    began = timezone.now() - timedelta(minutes=5)
    Workload.objects.update(phase_updated_at=began)
    stop = engine.show(workload.handle, Phase.STOPPING, reason=Reason.STOPPED_BY_USER)
    monitor.apply_observation(replace(stop, at=began))
    assert now(workload).running_seconds >= 300
    assert now(workload).phase_updated_at > began


@pytest.mark.parametrize("phase", [Phase.PENDING, Phase.INITIALIZING, Phase.RUNNING])
def test_a_suspended_job_whose_pods_are_gone_already_is_stopped(
    engine: FakeEngine, workload: Workload, phase: Phase
) -> None:
    Workload.objects.update(phase=phase)
    monitor.apply_observation(engine.show(workload.handle, Phase.STOPPED))
    assert now(workload).phase == Phase.STOPPED


def test_a_job_resumed_there_is_the_next_run(engine: FakeEngine, workload: Workload) -> None:
    monitor.apply_observation(engine.show(workload.handle, Phase.STOPPED))
    monitor.apply_observation(engine.show(workload.handle, Phase.PENDING))
    after = now(workload)
    assert (after.phase, after.run, after.message) == (Phase.RESUMING, 2, drift.RESUMED)
    assert [launch.run for launch in engine.launches] == [1, 2]
    assert engine.stops == []
    monitor.apply_observation(engine.show(workload.handle, Phase.RUNNING))
    assert now(workload).phase == Phase.RUNNING


def test_an_old_observation_of_a_suspended_job_is_no_resumption(
    engine: FakeEngine, workload: Workload
) -> None:
    old = engine.show(workload.handle, Phase.RUNNING)
    monitor.apply_observation(engine.show(workload.handle, Phase.STOPPED))
    monitor.apply_observation(old)
    assert (now(workload).phase, now(workload).run) == (Phase.STOPPED, 1)


def test_a_stop_that_was_asked_for_here_says_nothing_of_others(
    engine: FakeEngine, workload: Workload
) -> None:
    workload.move(Phase.STOPPING, reason=Reason.STOPPED_BY_USER)
    reconcile.stop(now(workload))
    assert (now(workload).phase, now(workload).message) == (Phase.STOPPED, "")


def test_a_job_deleted_there_is_lost_and_stays_so(engine: FakeEngine, workload: Workload) -> None:
    last = engine.observe(workload.handle)
    assert last
    monitor.apply_observation(replace(last, sequence=99, phase=None))
    after = now(workload)
    assert (after.phase, after.reason) == (Phase.FAILED, Reason.LOST)
    reconcile.launch(after)
    assert len(engine.launches) == 1


def test_a_resumption_that_is_refused_ends_it(
    engine: FakeEngine, workload: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(launch: object) -> None:
        raise EngineRefused("no")

    monitor.apply_observation(engine.show(workload.handle, Phase.STOPPED))
    monkeypatch.setattr(engine, "submit", refuse)
    monitor.apply_observation(engine.show(workload.handle, Phase.RUNNING))
    assert (now(workload).phase, now(workload).message) == (Phase.FAILED, "no")


def ranks(count: int) -> list[RankState]:
    """A master and workers, all of which run."""
    roles = [(Role.MASTER, 0), *((Role.WORKER, index) for index in range(count - 1))]
    return [RankState(n, role, at, RankPhase.RUNNING) for n, (role, at) in enumerate(roles)]


def test_a_job_scaled_there_asks_for_as_many_pods_as_it_has(
    engine: FakeEngine, workload: Workload
) -> None:
    one = workload.spec.worker.compute
    monitor.apply_observation(engine.show(workload.handle, Phase.RUNNING, ranks=ranks(5)))
    after = now(workload)
    assert (after.num_pods, after.running_pods, after.ranks.count()) == (5, 5, 5)
    assert set(after.ranks.values_list("phase", flat=True)) == {RankPhase.RUNNING}
    assert after.gpus == round(5 * one.gpus(0), 4)
    assert after.cpu_cores == round(5 * one.cpu_core_request, 4)
    texts = [event.message for event in after.events.all()]
    assert "Scaled on the cluster: 5 ranks now, 3 before." in texts
    monitor.apply_observation(engine.show(workload.handle, Phase.RUNNING, ranks=ranks(2)))
    after = now(workload)
    assert (after.num_pods, after.running_pods) == (2, 2)
    gone = after.ranks.filter(rank__gte=2)
    assert set(gone.values_list("phase", "message")) == {(RankPhase.STOPPED, drift.SCALED_AWAY)}
    before = after.events.count()
    monitor.apply_observation(engine.show(workload.handle, Phase.RUNNING, ranks=ranks(2)))
    assert now(workload).events.count() == before


def test_a_job_scaled_while_nobody_watched_is_seen_in_the_next_list(
    engine: FakeEngine, workload: Workload
) -> None:
    monitor.apply_observation(engine.show(workload.handle, Phase.RUNNING, ranks=ranks(3)))
    scaled = engine.show(workload.handle, Phase.RUNNING, ranks=ranks(4))
    (told,) = relist.changed_observations(workload.cluster, [scaled])
    monitor.apply_observation(told)
    assert now(workload).num_pods == 4
    assert list(relist.changed_observations(workload.cluster, [scaled])) == []


def test_an_old_observation_resizes_nothing(engine: FakeEngine, workload: Workload) -> None:
    old = engine.show(workload.handle, Phase.RUNNING, ranks=ranks(5))
    monitor.apply_observation(engine.show(workload.handle, Phase.RUNNING, ranks=ranks(3)))
    monitor.apply_observation(old)
    assert (now(workload).num_pods, now(workload).ranks.count()) == (3, 3)


@pytest.mark.parametrize("why", ["Its namespace runai-team-a was deleted.", ""])
def test_a_stopped_workload_without_a_job_says_so_and_can_run(
    engine: FakeEngine, workload: Workload, why: str
) -> None:
    monitor.apply_observation(engine.show(workload.handle, Phase.STOPPED))
    last = engine.observe(workload.handle)
    assert last
    gone = replace(last, sequence=99, phase=None, message=why)
    monitor.apply_observation(gone)
    after = now(workload)
    told = why or f"{workload.cluster.name} no longer has its job."
    assert (after.phase, after.message) == (Phase.STOPPED, f"{told} {drift.RUNS_ANEW}")
    assert after.events.filter(message=after.message).count() == 1
    monitor.apply_observation(gone)
    assert after.events.filter(message=after.message).count() == 1
    services.resume(after, by=None)
    engine.submit(launch_with_secrets(now(workload)))
    assert [launch.run for launch in engine.launches] == [1, 2]


@pytest.mark.parametrize("kind", ["kubernetes", "slurm", "local"])
def test_a_job_deleted_unobserved_is_missed_if_jobs_are_kept(
    engine: FakeEngine, workload: Workload, kind: str
) -> None:
    Cluster.objects.update(kind=kind)
    stopped = engine.show(workload.handle, Phase.STOPPED)
    monitor.apply_observation(stopped)
    cluster = now(workload).cluster
    relist.forget_missing(cluster, [stopped])
    before = now(workload).message
    assert before == reconcile.STOPPED_THERE
    for _ in range(2):
        relist.forget_missing(cluster, [])
    after = now(workload)
    gone = f"{cluster.name} no longer has its job. {drift.RUNS_ANEW}"
    is_missed = kind == "kubernetes"
    assert (after.phase, after.message) == (Phase.STOPPED, gone if is_missed else before)
    assert after.events.filter(message=gone).count() == is_missed
