"""Gangs that vanish, outlive their workload, or go: nothing is left behind."""

import pytest

from engines.base import EngineRefused, EngineUnavailable
from engines.fake import FakeEngine
from engines.kubernetes.objects import finalizer_error
from spec.phases import Phase, RankPhase, Reason
from tests.factories import WorkloadFactory
from tests.workloads.gangs import now
from workloads import reconcile
from workloads.launch import launch_with_secrets
from workloads.models import Workload
from workloads.worker import monitor, relist

pytestmark = pytest.mark.django_db


def launched(engine: FakeEngine, **traits: object) -> Workload:
    """A gang that its cluster has."""
    workload = WorkloadFactory(**traits)
    engine.submit(launch_with_secrets(workload))
    return now(workload)


def test_a_stop_before_the_start_ends_every_rank(engine: FakeEngine) -> None:
    workload = WorkloadFactory(phase=Phase.STOPPING)
    reconcile.stop(workload)
    after = now(workload)
    assert (after.phase, after.message) == (Phase.STOPPED, "It had not started yet.")
    assert after.logs_complete, "nothing was printed, so nothing is waited for"
    assert set(after.ranks.values_list("phase", flat=True)) == {RankPhase.STOPPED}


def test_a_job_held_by_a_finalizer_stays_deleting_and_says_so(
    engine: FakeEngine,
) -> None:
    workload = launched(engine, phase=Phase.DELETING)
    engine.raises = finalizer_error("The job", ["example.com/hold"])
    with pytest.raises(EngineUnavailable):
        reconcile.delete(workload)
    after = now(workload)
    assert (after.phase, after.deleted_at) == (Phase.DELETING, None)
    assert after.message == "The job is kept on the cluster by the finalizer example.com/hold"
    engine.raises = None
    reconcile.delete(workload)
    assert now(workload).deleted_at


def test_a_gang_that_vanished_has_failed_with_all_its_ranks(engine: FakeEngine) -> None:
    workload = launched(engine, running=True)
    engine.delete(workload.handle)
    relist.forget_missing(workload.cluster, [])
    after = now(workload)
    assert (after.phase, after.reason, after.running_pods) == (Phase.FAILED, Reason.LOST, 0)
    assert set(after.ranks.values_list("phase", "reason")) == {(RankPhase.FAILED, Reason.LOST)}
    assert not after.logs_complete, "what it printed may still be on its way"


def test_a_rank_that_had_failed_keeps_its_reason_when_its_gang_vanishes(engine: FakeEngine) -> None:
    workload = launched(engine, running=True)
    at = workload.created_at
    failing = {"reason": Reason.RANK_FAILED, "exit_code": 5, "finished_at": at}
    workload.ranks.filter(rank=0).update(phase=RankPhase.PENDING, **failing)
    relist.forget_missing(workload.cluster, [])
    first, *others = now(workload).ranks.all()
    assert (first.phase, first.reason, first.finished_at) == (
        RankPhase.FAILED,
        Reason.RANK_FAILED,
        at,
    )
    assert {rank.reason for rank in others} == {Reason.LOST}


def test_a_workload_waiting_in_the_queue_of_its_cluster_can_vanish_too(engine: FakeEngine) -> None:
    workload = WorkloadFactory(pending=True, observed_run=1)
    relist.forget_missing(workload.cluster, [])
    assert now(workload).reason == Reason.LOST


def test_a_workload_without_an_observation_in_this_run_is_not_lost(engine: FakeEngine) -> None:
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
    monitor.apply_observation(engine.show(workload.handle, Phase.RUNNING))
    assert engine.stops == [(workload.pk, 1)]
    assert now(workload).phase == Phase.STOPPED


def test_an_earlier_run_that_still_runs_makes_way(engine: FakeEngine) -> None:
    workload = launched(engine, stopped=True)
    Workload.objects.update(phase=Phase.INITIALIZING, run=2)
    monitor.apply_observation(engine.show(workload.handle, Phase.RUNNING))
    assert engine.stops == [(workload.pk, 1)]
    assert now(workload).phase == Phase.INITIALIZING


def test_a_gang_that_came_back_after_it_was_given_up_is_ended(engine: FakeEngine) -> None:
    workload = launched(engine, running=True)
    Workload.objects.update(phase=Phase.FAILED, reason=Reason.LOST)
    monitor.apply_observation(engine.show(workload.handle, Phase.RUNNING))
    assert engine.stops == [(workload.pk, 1)]


def test_a_workload_row_that_cannot_be_read_does_not_stop_the_monitor(
    engine: FakeEngine, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(*args: object) -> bool:
        raise ValueError("not a spec")

    workload = launched(engine, initializing=True)
    monkeypatch.setattr(reconcile, "apply", unreadable)
    monitor.apply_observation(engine.show(workload.handle, Phase.RUNNING))
    assert str(workload.pk) in caplog.text
