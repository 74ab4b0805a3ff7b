"""Observations are applied once and in order; the rest is old news."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from django.db import transaction
from pytest_django import DjangoAssertNumQueries

from engines.base import EngineRefused, Observation, RankState
from engines.fake import FakeEngine
from projects.models import Project
from spec.phases import AT_WORK, GATHERING, MOVES, Phase, RankPhase, Reason
from spec.workload import Role
from tests.workloads.gangs import phases, waiting
from workloads import reconcile
from workloads.models import Event, Workload
from workloads.worker import relist
from workloads.worker.monitor import apply_observation

P = Phase


@pytest.fixture
def started(project: Project) -> Workload:
    workload = waiting(project, "a", gpus=1, workers=2)
    workload.move(P.INITIALIZING)
    return workload


def seen(workload: Workload, phase: Phase | None, sequence: int, **also: object) -> Observation:
    made = Observation(workload.pk, workload.run, sequence, phase, datetime.now(UTC))
    return replace(made, **also)  # type: ignore[arg-type]


def test_an_observation_is_applied_once(started: Workload) -> None:
    running = seen(started, P.RUNNING, 1)
    assert reconcile.apply(started, running) is True
    events = Event.objects.count()
    assert reconcile.apply(Workload.objects.get(), running) is False
    assert Event.objects.count() == events


def test_a_late_observation_moves_nothing_back(started: Workload) -> None:
    reconcile.apply(started, seen(started, P.COMPLETED, 5))
    for sequence in (1, 4, 5):
        assert reconcile.apply(Workload.objects.get(), seen(started, P.RUNNING, sequence)) is False
    assert phases(started) == [P.COMPLETED]


def test_an_observation_of_an_earlier_run_is_old(started: Workload) -> None:
    Workload.objects.update(run=2, phase=P.INITIALIZING)
    old = seen(started, P.STOPPED, 99)
    assert reconcile.apply(Workload.objects.get(), old) is False


@pytest.mark.parametrize("origin", list(Phase))
def test_a_phase_makes_only_legal_moves(started: Workload, origin: Phase) -> None:
    for to in Phase:
        with transaction.atomic():
            Workload.objects.update(phase=origin)
            reconcile.apply(Workload.objects.get(), seen(started, to, 7))
            told = P.DEGRADED if origin in AT_WORK and to in GATHERING else to
            told = origin if (origin, to) == (P.INITIALIZING, P.PENDING) else told
            legal = told in MOVES[origin] or told == origin
            assert phases(started) == [told if legal else origin], to
            transaction.set_rollback(True)


@pytest.mark.parametrize("again", [P.PENDING, P.INITIALIZING])
def test_a_workload_that_once_ran_is_degraded_until_it_runs_again(
    started: Workload, again: Phase
) -> None:
    reconcile.apply(started, seen(started, P.RUNNING, 1))
    waits = seen(started, again, 2)
    reconcile.apply(started, waits)
    reconcile.apply(started, seen(started, again, 3, message="worker-0 is pulled."))
    told = Event.objects.exclude(phase="").values_list("phase", flat=True)
    assert list(told) == [P.DEGRADED, P.RUNNING], "newest first"
    assert Workload.objects.get().message == "worker-0 is pulled."
    reconcile.apply(started, seen(started, P.RUNNING, 4))
    assert phases(started) == [P.RUNNING]


def test_ranks_of_a_workload_follow_its_observation(started: Workload) -> None:
    ranks = (
        RankState(0, Role.WORKER, 0, RankPhase.RUNNING, node="n1"),
        RankState(1, Role.WORKER, 1, RankPhase.FAILED, node="n1", exit_code=-9, restarts=2),
        RankState(9, Role.WORKER, 9, RankPhase.RUNNING),  # unknown here
    )
    reconcile.apply(started, seen(started, P.DEGRADED, 1, ranks=ranks))
    workload = Workload.objects.get()
    one, two = workload.ranks.all()
    assert (one.phase, two.exit_code, two.restarts) == (RankPhase.RUNNING, -9, 2)


@pytest.mark.parametrize(
    ("end", "phase"), [(P.FAILED, RankPhase.FAILED), (P.COMPLETED, RankPhase.STOPPED)]
)
def test_exit_code_and_node_of_a_rank_outlive_its_pod(
    started: Workload, end: Phase, phase: RankPhase
) -> None:
    failed = RankState(0, Role.WORKER, 0, RankPhase.PENDING, node="n1", exit_code=4, restarts=1)
    reconcile.apply(started, seen(started, P.DEGRADED, 1, ranks=(failed,)))
    removed = RankState(0, Role.WORKER, 0, RankPhase.STOPPED)
    last = seen(started, end, 2, ranks=(removed,))
    reconcile.apply(Workload.objects.get(), last)
    rank = Workload.objects.get().ranks.all()[0]
    assert (rank.phase, rank.exit_code, rank.node, rank.restarts) == (phase, 4, "n1", 1)
    assert list(relist.changed_observations(started.cluster, [replace(last, sequence=3)])) == []


LIMIT = "Job has reached the specified backoff limit"


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (
            {"exit_code": 4, "reason": Reason.RANK_FAILED, "message": "exited with code 4"},
            "exited with code 4",
        ),
        (
            {"phase": RankPhase.RUNNING, "message": "started again after it exited with code 4"},
            "started again after it exited with code 4",
        ),
    ],
)
def test_the_last_failure_seen_is_the_cause_once_the_pods_are_gone(
    started: Workload, last: dict[str, object], words: str
) -> None:
    """Between the two observations the worker may have been started again."""
    before = RankState(0, Role.WORKER, 0, RankPhase.PENDING, node="n1", restarts=1)
    failing = replace(before, **last)  # type: ignore[arg-type]
    reconcile.apply(started, seen(started, P.DEGRADED, 1, ranks=(failing,)))
    gone = RankState(0, Role.WORKER, 0, RankPhase.PENDING)
    reconcile.apply(started, seen(started, P.PENDING, 2, ranks=(gone,)))
    end = replace(gone, phase=RankPhase.STOPPED)
    over = seen(started, P.FAILED, 3, ranks=(end,), reason=Reason.RANK_FAILED, message=LIMIT)
    reconcile.apply(Workload.objects.get(), over)
    assert Workload.objects.get().message == f"worker-0 (rank 0) {words}. {LIMIT}"
    assert Workload.objects.get().ranks.all()[0].phase == RankPhase.FAILED
    assert list(relist.changed_observations(started.cluster, [replace(over, sequence=4)])) == []


def test_a_rank_that_could_not_be_started_stays_failed(started: Workload) -> None:
    """Though it has no exit code, and its operator removed its pod at the backoff limit."""
    why = Reason.COMMAND_NOT_FOUND
    waits = RankState(0, Role.WORKER, 0, RankPhase.PENDING, node="n1", reason=why)
    reconcile.apply(started, seen(started, P.INITIALIZING, 1, ranks=(waits,)))
    removed = RankState(0, Role.WORKER, 0, RankPhase.STOPPED)
    reconcile.apply(Workload.objects.get(), seen(started, P.FAILED, 2, ranks=(removed,)))
    rank = Workload.objects.get().ranks.all()[0]
    assert (rank.phase, rank.reason) == (RankPhase.FAILED, why)


def test_a_restart_is_noted(started: Workload) -> None:
    reconcile.apply(started, seen(started, P.RUNNING, 1, attempt=2, message="Rank 1 died."))
    assert Workload.objects.get().attempt == 2
    assert Event.objects.filter(reason=Reason.RESTARTING).count() == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [(P.RUNNING, P.FAILED), (P.STOPPING, P.STOPPED), (P.COMPLETED, P.COMPLETED)],
)
def test_a_workload_that_its_cluster_lost_ends_by_its_phase(
    started: Workload, before: Phase, after: Phase
) -> None:
    Workload.objects.update(phase=before)
    reconcile.apply(Workload.objects.get(), seen(started, None, 3))
    assert phases(started) == [after]


def test_a_preempted_workload_is_pending_again(started: Workload) -> None:
    reconcile.apply(started, seen(started, P.RUNNING, 1))
    reconcile.apply(started, seen(started, P.PENDING, 2))
    assert phases(started) == [P.DEGRADED]
    reconcile.apply(started, seen(started, P.PENDING, 3, reason=Reason.PREEMPTED, message="By a."))
    assert phases(started) == [P.PENDING]
    reconcile.apply(started, seen(started, P.INITIALIZING, 4))
    assert phases(started) == [P.INITIALIZING]


def test_a_rank_that_lost_its_place_does_not_take_the_start_back(started: Workload) -> None:
    reconcile.apply(started, seen(started, P.INITIALIZING, 1))
    waits = seen(started, P.PENDING, 2, message="worker-0 (rank 0): no place.")
    assert list(relist.changed_observations(started.cluster, [waits])) == [waits]
    reconcile.apply(started, waits)
    assert Workload.objects.get().message == "worker-0 (rank 0): no place."
    assert phases(started) == [P.INITIALIZING]
    assert list(relist.changed_observations(started.cluster, [replace(waits, sequence=3)])) == []
    reconcile.apply(started, seen(started, P.PENDING, 4, reason=Reason.PREEMPTED, message="By a."))
    assert phases(started) == [P.PENDING]


def test_a_workload_lost_with_its_namespace_says_so(started: Workload) -> None:
    reconcile.apply(started, seen(started, None, 3, message="Its namespace a was deleted."))
    message = Workload.objects.get().message
    assert message.startswith("Its namespace a was deleted.")


def test_a_workload_launched_twice_starts_once(engine: FakeEngine, started: Workload) -> None:
    reconcile.launch(started)
    reconcile.launch(Workload.objects.get())
    assert len(engine.launches) == 1


def test_a_refused_launch_ends_the_workload(engine: FakeEngine, started: Workload) -> None:
    engine.raises = EngineRefused("No such image.", reason=Reason.IMAGE_UNKNOWN)
    reconcile.launch(started)
    workload = Workload.objects.get()
    assert (workload.phase, workload.reason) == (P.FAILED, Reason.IMAGE_UNKNOWN)
    assert (workload.message, workload.failure_class) == ("No such image.", "image-unknown")


@pytest.mark.parametrize(
    "said", ["The cluster refused: no.", "worker.image: The cluster refused: no."]
)
def test_a_refusal_names_the_field_that_it_is_about(
    engine: FakeEngine, started: Workload, said: str
) -> None:
    engine.raises = EngineRefused(said, field="worker.image")
    reconcile.launch(started)
    workload = Workload.objects.get()
    assert workload.message == "worker.image: The cluster refused: no."
    assert workload.failure_class == "refused"


def test_a_workload_that_never_reached_the_engine_stops_at_once(
    engine: FakeEngine, project: Project
) -> None:
    workload = waiting(project, "a", gpus=1)
    workload.move(P.STOPPING, reason=Reason.STOPPED_BY_USER)
    reconcile.stop(workload)
    assert phases(workload) == [P.STOPPED]


def test_deleting_twice_is_fine(engine: FakeEngine, started: Workload) -> None:
    started.move(P.DELETING)
    reconcile.delete(started)
    reconcile.delete(Workload.objects.get())
    assert Workload.objects.get().deleted_at
    assert engine.deletes == [started.pk]


def test_a_stopped_workload_tells_how_the_stop_went(started: Workload) -> None:
    started.move(P.STOPPING, reason=Reason.STOPPED_BY_USER)
    told = replace(seen(started, P.STOPPED, 3), message="worker-0 outlived its grace period.")
    reconcile.apply(Workload.objects.get(), told)
    assert Workload.objects.get().message == "worker-0 outlived its grace period."


def test_rows_of_a_workload_are_put_in_order_without_the_workload(started: Workload) -> None:
    for rows in (started.ranks, started.causes, started.attempts, started.samples):
        assert "JOIN" not in str(rows.all().query)


def test_an_observation_takes_few_questions(
    started: Workload, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    """Bursts of thousands come; the documents of a workload are no part of it."""
    ranks = tuple(
        RankState(rank.rank, Role(rank.role), rank.index, RankPhase.RUNNING, node="node-1")
        for rank in started.ranks.all()
    )
    with django_assert_max_num_queries(10) as asked:
        apply_observation(seen(started, P.RUNNING, 1, ranks=ranks))
    assert "spec_json" not in str(asked.captured_queries)
    started.refresh_from_db()
    assert (started.phase, started.running_pods) == (P.RUNNING, len(ranks))
    assert {rank.node for rank in started.ranks.all()} == {"node-1"}
    assert [rank.role for rank in started.ranks.all()] == [state.role for state in ranks]


def test_a_move_updates_the_object_and_its_row(started: Workload) -> None:
    started.move(P.RUNNING)
    started.move(P.COMPLETED, running_pods=0)
    known = {name: getattr(started, name) for name in ("phase", "running_seconds", "completed_at")}
    row = Workload.objects.get()
    assert known == {name: getattr(row, name) for name in known}
