"""Gangs that vanish, outlive their workload, or go: nothing is left behind."""

from datetime import timedelta

import pytest
from django.utils import timezone

from engines.base import EngineRefused
from engines.fake import FakeEngine
from spec.phases import Phase, RankPhase, Reason
from tests.factories import WorkloadFactory
from tests.workloads.domain.conftest import now
from workloads import logs, monitor, reconcile, relist, sweep
from workloads.models import Workload

pytestmark = pytest.mark.django_db


def launched(engine: FakeEngine, **traits: object) -> Workload:
    """A gang that its cluster has."""
    workload = WorkloadFactory(**traits)
    engine.submit(reconcile.launch_of(workload))
    return now(workload)


def test_a_stop_before_the_start_ends_every_rank(engine: FakeEngine) -> None:
    workload = WorkloadFactory(phase=Phase.STOPPING)
    reconcile.stop(workload)
    after = now(workload)
    assert (after.phase, after.message) == (Phase.STOPPED, "It had not started yet.")
    assert after.logs_complete, "nothing was printed, so nothing is waited for"
    assert set(after.ranks.values_list("phase", flat=True)) == {RankPhase.STOPPED}


def test_what_vanished_has_failed_with_all_its_ranks(engine: FakeEngine) -> None:
    workload = launched(engine, running=True)
    engine.delete(workload.handle)
    relist.forget_missing(workload.cluster, [])
    after = now(workload)
    assert (after.phase, after.reason, after.running_pods) == (Phase.FAILED, Reason.LOST, 0)
    assert set(after.ranks.values_list("phase", "reason")) == {(RankPhase.FAILED, Reason.LOST)}
    assert not after.logs_complete, "what it printed may still be on its way"


def test_what_waited_in_the_queue_of_its_cluster_can_vanish_too(engine: FakeEngine) -> None:
    workload = WorkloadFactory(pending=True, observed_run=1)
    relist.forget_missing(workload.cluster, [])
    assert now(workload).reason == Reason.LOST


def test_what_was_not_seen_in_this_run_is_not_lost(engine: FakeEngine) -> None:
    workload = WorkloadFactory(initializing=True)
    relist.forget_missing(workload.cluster, [])
    assert now(workload).phase == Phase.INITIALIZING


def test_a_refusal_ends_the_workload_with_its_words(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(launch: object) -> None:
        raise EngineRefused("no such image", reason=Reason.IMAGE_UNKNOWN)

    workload = WorkloadFactory(initializing=True)
    monkeypatch.setattr(engine, "submit", refuse)
    reconcile.launch(workload)
    after = now(workload)
    assert (after.phase, after.reason) == (Phase.FAILED, Reason.IMAGE_UNKNOWN)
    assert "no such image" in after.message
    assert after.logs_complete


def test_a_gang_that_started_while_it_was_stopped_is_ended(engine: FakeEngine) -> None:
    workload = launched(engine, stopped=True)
    monitor.observed(engine.show(workload.handle, Phase.RUNNING))
    assert engine.stops == [(workload.pk, 1)]
    assert now(workload).phase == Phase.STOPPED


def test_an_earlier_run_that_still_runs_makes_way(engine: FakeEngine) -> None:
    workload = launched(engine, stopped=True)
    Workload.objects.update(phase=Phase.INITIALIZING, run=2)
    monitor.observed(engine.show(workload.handle, Phase.RUNNING))
    assert engine.stops == [(workload.pk, 1)]
    assert now(workload).phase == Phase.INITIALIZING


def test_a_gang_that_came_back_after_it_was_given_up_is_ended(engine: FakeEngine) -> None:
    workload = launched(engine, running=True)
    Workload.objects.update(phase=Phase.FAILED, reason=Reason.LOST)
    monitor.observed(engine.show(workload.handle, Phase.RUNNING))
    assert engine.stops == [(workload.pk, 1)]


def test_deletion_takes_the_logs_and_hides_the_row(engine: FakeEngine) -> None:
    workload = launched(engine, phase=Phase.DELETING, running_pods=3)
    stream = logs.Stream(workload.pk, 1, 0, 0)
    logs.append(stream, b"hello\n")
    reconcile.delete(workload)
    assert engine.deletes == [workload.pk]
    assert not stream.path.exists()
    after = now(workload)
    assert after.deleted_at
    assert after.running_pods == 0


def test_one_row_that_cannot_be_read_stops_nobody_else(
    engine: FakeEngine, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(*args: object) -> bool:
        raise ValueError("not a spec")

    workload = launched(engine, initializing=True)
    monkeypatch.setattr(reconcile, "apply", unreadable)
    monitor.observed(engine.show(workload.handle, Phase.RUNNING))
    assert str(workload.pk) in caplog.text


def test_two_weeks_after_its_deletion_its_logs_are_gone_too(engine: FakeEngine) -> None:
    old = timezone.now() - sweep.DELETED_RETENTION - timedelta(minutes=1)
    gone = WorkloadFactory(phase=Phase.DELETING, deleted_at=old)
    stream = logs.Stream(gone.pk, 1, 0, 0)
    logs.append(stream, b"collected while it was deleted\n")
    sweep.prune()
    assert not Workload.objects.exists()
    assert not stream.path.parent.exists()
