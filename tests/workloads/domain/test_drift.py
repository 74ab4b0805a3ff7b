"""What somebody does on the cluster itself, past Trainyard."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from engines.base import EngineRefused
from engines.fake import FakeEngine
from spec.phases import Phase, Reason
from tests.factories import WorkloadFactory
from tests.workloads.domain.conftest import now
from workloads import drift, monitor, reconcile
from workloads.models import Workload


@pytest.fixture
def workload(db: None, engine: FakeEngine) -> Workload:
    """A gang that runs on a cluster with a queue of its own."""
    engine.queues = True
    made: Workload = WorkloadFactory(running=True)
    made.cluster.capabilities_json["queues"] = True
    made.cluster.save()
    engine.submit(reconcile.launch_of(made))
    monitor.observed(engine.show(made.handle, Phase.RUNNING))
    return now(made)


def test_a_job_suspended_there_is_stopped(engine: FakeEngine, workload: Workload) -> None:
    monitor.observed(engine.show(workload.handle, Phase.STOPPING, reason=Reason.STOPPED_BY_USER))
    assert now(workload).message == reconcile.STOPPED_THERE
    monitor.observed(engine.show(workload.handle, Phase.STOPPED, reason=Reason.STOPPED_BY_USER))
    after = now(workload)
    assert (after.phase, after.message) == (Phase.STOPPED, reconcile.STOPPED_THERE)


def test_time_that_the_cluster_does_not_date_counts_until_it_is_seen(
    engine: FakeEngine, workload: Workload
) -> None:
    """A stop leaves no date on the cluster before its pods are gone."""
    began = timezone.now() - timedelta(minutes=5)
    Workload.objects.update(phase_updated_at=began)
    stop = engine.show(workload.handle, Phase.STOPPING, reason=Reason.STOPPED_BY_USER)
    monitor.observed(replace(stop, at=began))
    assert now(workload).running_seconds >= 300
    assert now(workload).phase_updated_at > began


@pytest.mark.parametrize("phase", [Phase.PENDING, Phase.INITIALIZING, Phase.RUNNING])
def test_its_pods_may_be_gone_when_that_is_seen(
    engine: FakeEngine, workload: Workload, phase: Phase
) -> None:
    Workload.objects.update(phase=phase)
    monitor.observed(engine.show(workload.handle, Phase.STOPPED))
    assert now(workload).phase == Phase.STOPPED


def test_a_job_resumed_there_is_the_next_run(engine: FakeEngine, workload: Workload) -> None:
    monitor.observed(engine.show(workload.handle, Phase.STOPPED))
    monitor.observed(engine.show(workload.handle, Phase.PENDING))
    after = now(workload)
    assert (after.phase, after.run, after.message) == (Phase.RESUMING, 2, drift.RESUMED)
    assert [launch.run for launch in engine.launches] == [1, 2]
    assert engine.stops == []
    monitor.observed(engine.show(workload.handle, Phase.RUNNING))
    assert now(workload).phase == Phase.RUNNING


def test_old_news_of_it_is_no_resumption(engine: FakeEngine, workload: Workload) -> None:
    old = engine.show(workload.handle, Phase.RUNNING)
    monitor.observed(engine.show(workload.handle, Phase.STOPPED))
    monitor.observed(old)
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
    monitor.observed(replace(last, sequence=99, phase=None))
    after = now(workload)
    assert (after.phase, after.reason) == (Phase.FAILED, Reason.LOST)
    reconcile.launch(after)
    assert len(engine.launches) == 1


def test_a_resumption_that_is_refused_ends_it(
    engine: FakeEngine, workload: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(launch: object) -> None:
        raise EngineRefused("no")

    monitor.observed(engine.show(workload.handle, Phase.STOPPED))
    monkeypatch.setattr(engine, "submit", refuse)
    monitor.observed(engine.show(workload.handle, Phase.RUNNING))
    assert (now(workload).phase, now(workload).message) == (Phase.FAILED, "no")
