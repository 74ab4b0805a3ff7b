"""When a workload started, and how long it ran, although nobody saw it run."""

from datetime import datetime, timedelta

import pytest

from engines.base import Observation, RankState
from projects.models import Project
from spec.phases import Phase, RankPhase, Reason
from spec.workload import Role
from tests.workloads.gangs import waiting
from workloads import reconcile
from workloads.models import Workload

SECOND = timedelta(seconds=1)


@pytest.fixture
def workload(project: Project) -> Workload:
    """Handed over a minute ago, and initializing since."""
    workload = waiting(project, "quick", gpus=1, workers=2)
    workload.move(Phase.INITIALIZING)
    submitted = workload.created_at.replace(microsecond=0) - timedelta(minutes=1)
    Workload.objects.update(created_at=submitted, phase_updated_at=submitted + 10 * SECOND)
    return Workload.objects.get()


def ended(workload: Workload, phase: Phase, *starts: datetime | None) -> Workload:
    """Store that it ended 40 s after its submission, with ranks that started at these times."""
    at = workload.created_at + 40 * SECOND
    ranks = [
        RankState(number, Role.WORKER, number, RankPhase.SUCCEEDED, node="n", started_at=start)
        for number, start in enumerate(starts)
    ]
    seen = Observation(workload.pk, workload.run, 9, phase, at, ranks=tuple(ranks))
    reconcile.apply(workload, seen)
    return Workload.objects.get()


@pytest.mark.parametrize("phase", [Phase.COMPLETED, Phase.FAILED, Phase.STOPPED])
def test_a_gang_that_nobody_saw_running_started_when_its_ranks_did(
    workload: Workload, phase: Phase
) -> None:
    first = workload.created_at + 30 * SECOND
    after = ended(workload, phase, first, first + 2 * SECOND)
    assert after.phase == phase
    assert after.started_at == first + 2 * SECOND, "since then all of them ran"
    assert after.running_seconds == pytest.approx(8)


def test_the_time_before_is_what_it_waited(workload: Workload) -> None:
    Workload.objects.update(phase=Phase.PENDING, pending_seconds=0, first_wait_seconds=None)
    start = workload.created_at + 30 * SECOND
    after = ended(Workload.objects.get(), Phase.COMPLETED, start, start)
    assert (after.pending_seconds, after.running_seconds) == pytest.approx((20, 10), abs=1)
    assert after.first_wait_seconds == pytest.approx(20, abs=1)


def test_a_gang_that_was_never_whole_started_with_its_first_rank(workload: Workload) -> None:
    first = workload.created_at + 20 * SECOND
    after = ended(workload, Phase.FAILED, None, first)
    assert (after.started_at, after.running_seconds) == (first, 0)


def test_a_gang_that_never_ran_has_no_start(workload: Workload) -> None:
    after = ended(workload, Phase.FAILED, None, None)
    assert (after.started_at, after.running_seconds) == (None, 0)


@pytest.mark.parametrize(("off", "shown"), [(-3600, 0), (3600, 40)])
def test_a_clock_that_is_wrong_makes_no_start_outside_of_its_life(
    workload: Workload, off: int, shown: int
) -> None:
    start = workload.created_at + off * SECOND
    after = ended(workload, Phase.COMPLETED, start, start)
    assert after.started_at == workload.created_at + shown * SECOND
    assert 0 <= after.running_seconds <= 30


def test_a_start_that_was_seen_stays(workload: Workload) -> None:
    at = workload.created_at + 15 * SECOND
    running = Observation(workload.pk, workload.run, 3, Phase.RUNNING, at)
    reconcile.apply(workload, running)
    late = at + 10 * SECOND
    after = ended(Workload.objects.get(), Phase.COMPLETED, late, late)
    assert after.started_at == at
    assert after.running_seconds == pytest.approx(25)


def test_a_stop_before_it_was_whole_keeps_the_start(workload: Workload) -> None:
    workload.move(Phase.STOPPING, reason=Reason.STOPPED_BY_USER)
    start = workload.created_at + 20 * SECOND
    after = ended(Workload.objects.get(), Phase.STOPPED, start, start)
    assert after.started_at == start


@pytest.mark.parametrize(
    ("reason", "then", "running"),
    [(Reason.NONE, Reason.RESTARTING, 30), (Reason.RESTARTING, Reason.NONE, 0)],
)
def test_a_reason_that_changes_takes_no_time_back(
    workload: Workload, reason: Reason, then: Reason, running: int
) -> None:
    """Between two attempts nothing runs: what came before that counts, and what comes after."""
    since = workload.created_at
    Workload.objects.update(
        phase=Phase.DEGRADED, reason=reason, phase_updated_at=since, running_seconds=0
    )
    workload = Workload.objects.get()
    at = since + 30 * SECOND
    message = "Two ranks of three run."
    seen = Observation(workload.pk, workload.run, 9, Phase.DEGRADED, at, 0, then, message)
    reconcile.apply(workload, seen)
    after = Workload.objects.get()
    assert (after.reason, after.running_seconds) == (then, running)
    assert after.phase_updated_at == at
