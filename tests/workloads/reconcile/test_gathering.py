"""On a cluster that places pods one by one, a gang starts when all of its ranks have a place."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from accounts.models import User
from engines.base import Observation, RankState
from projects.models import Project
from spec.phases import Phase, RankPhase, Reason
from spec.problems.causes import Cause, CauseKind
from spec.workload import Role
from tests.factories import add_members
from tests.web import signed_in
from tests.workloads.gangs import now, waiting
from workloads import reconcile
from workloads.models import Workload
from workloads.scheduling.fit import score
from workloads.scheduling.fit.judge import Answer
from workloads.worker import relist

RUNS = RankState(0, Role.WORKER, 0, RankPhase.RUNNING, node="n1")
UNPLACED = RankState(1, Role.WORKER, 1, RankPhase.PENDING)
FULL = Cause(CauseKind.CAPACITY, "Not enough free GPUs", "Ask for fewer.", who="worker-1 (rank 1)")


@pytest.fixture
def gang(project: Project) -> Workload:
    """It never fits whole."""
    workload = waiting(project, "gang", gpus=4, workers=2)
    Workload.objects.update(verdict=Answer.NEVER)
    return workload


def seen(
    phase: Phase, *ranks: RankState, sequence: int = 1, cause: Cause | None = None, said: str = ""
) -> Workload:
    row = Workload.objects.get()
    reason, message = (cause.reason, cause.message) if cause else (Reason.NONE, said)
    at = datetime.now(UTC)
    observation = Observation(
        row.pk, row.run, sequence, phase, at, reason=reason, message=message, ranks=ranks,
        cause=cause,
    )  # fmt: skip
    assert reconcile.apply(row, observation)
    assert not list(relist.changed_observations(row.cluster, [observation])), (
        "what is known stays as it is"
    )
    return now(row)


def of_never(workload: Workload) -> tuple[int, int]:
    verdict = score.verdict_scores(workload.cluster)[2]
    return verdict.held, verdict.missed


def test_a_gang_of_which_some_ranks_run_has_not_started(gang: Workload) -> None:
    """Its cluster may say that it fell apart: a rank that waited for the others gave up."""
    row = seen(Phase.DEGRADED, RUNS, UNPLACED, cause=FULL)
    assert (row.phase, row.running_pods, row.started_at) == (Phase.PENDING, 1, None)
    assert row.message == FULL.message
    assert score.verdict_in_words(row) == "Can never start"
    assert of_never(row) == (0, 0), "it waits, so nobody knows yet"
    row.move(Phase.STOPPING)
    assert of_never(row) == (1, 0)


def test_a_gathering_gang_says_how_many_ranks_are_missing(
    gang: Workload,
) -> None:
    row = seen(Phase.DEGRADED, RUNS, UNPLACED, said="A rank lost its pod.")
    assert (row.phase, row.message) == (Phase.PENDING, "Waiting for 1 of 2 ranks.")


def test_a_gang_that_had_all_its_places_is_degraded(gang: Workload) -> None:
    placed = RankState(1, Role.WORKER, 1, RankPhase.PENDING, node="n2", restarts=1)
    assert seen(Phase.DEGRADED, RUNS, placed).phase == Phase.DEGRADED
    assert of_never(gang) == (0, 1), "it did start"


def test_a_gang_that_lost_a_rank_after_all_were_placed_is_degraded(gang: Workload) -> None:
    seen(Phase.INITIALIZING, RUNS, UNPLACED)
    assert seen(Phase.DEGRADED, RUNS, UNPLACED, sequence=2).phase == Phase.DEGRADED


LOST = replace(UNPLACED, lost_its_node=True)


def test_a_gang_that_lost_a_rank_unobserved_is_degraded(
    gang: Workload,
) -> None:
    """The worker was away: the first thing it sees is the pod that takes the place of another."""
    row = seen(Phase.DEGRADED, RUNS, LOST, cause=FULL)
    assert (row.phase, row.message) == (Phase.DEGRADED, FULL.message)
    assert row.first_wait_seconds is not None
    assert of_never(row) == (0, 1), "it did start"


def test_a_gang_that_lost_a_rank_and_runs_none_is_starting(gang: Workload) -> None:
    loops = replace(RUNS, phase=RankPhase.PENDING, restarts=2)
    row = seen(Phase.PENDING, loops, LOST, cause=FULL)
    assert (row.phase, row.message) == (Phase.INITIALIZING, FULL.message)


def test_a_rank_that_never_had_a_place_keeps_the_gang_pending(gang: Workload) -> None:
    third = replace(UNPLACED, rank=2, index=2)
    row = seen(Phase.DEGRADED, RUNS, LOST, third)
    assert (row.phase, row.message) == (Phase.PENDING, "Waiting for 1 of 3 ranks.")
    assert seen(Phase.PENDING, RUNS, LOST, third, sequence=2).phase == Phase.PENDING


def test_a_gang_that_was_preempted_while_nobody_looked_is_pending(gang: Workload) -> None:
    gave_way = Observation(
        gang.pk, gang.run, 1, Phase.PENDING, datetime.now(UTC), reason=Reason.PREEMPTED,
        ranks=(replace(RUNS, phase=RankPhase.PENDING), LOST),
    )  # fmt: skip
    assert reconcile.apply(gang, gave_way)
    assert now(gang).phase == Phase.PENDING


def test_a_job_that_completes_without_some_of_its_ranks_never_started_whole(
    gang: Workload,
) -> None:
    """An operator calls a job done whose master is."""
    done = RankState(0, Role.WORKER, 0, RankPhase.SUCCEEDED, node="n1", exit_code=0)
    never = RankState(1, Role.WORKER, 1, RankPhase.STOPPED)
    row = seen(Phase.COMPLETED, done, never)
    assert (row.phase, row.first_wait_seconds) == (Phase.COMPLETED, None)
    assert of_never(row) == (1, 0)


def test_a_job_that_was_over_before_anyone_looked_did_start(gang: Workload) -> None:
    gone = (RankState(it, Role.WORKER, it, RankPhase.STOPPED) for it in range(2))
    assert seen(Phase.COMPLETED, *gone).first_wait_seconds is not None


@pytest.mark.parametrize("ranks", [(RUNS, UNPLACED), (UNPLACED,)])
def test_the_page_says_that_ranks_that_run_wait_for_the_others(
    gang: Workload, member: User, ranks: tuple[RankState, ...]
) -> None:
    row = seen(Phase.PENDING, *ranks, cause=FULL)
    add_members(row.project, member)
    page = signed_in(member).get(row.get_absolute_url()).content.decode()
    said = "1 of 2 ranks runs and waits for the others." in " ".join(page.split())
    assert said is (RUNS in ranks)
    assert "It started" not in page


@pytest.mark.parametrize("phase", [Phase.PENDING, Phase.INITIALIZING])
def test_a_running_gang_that_its_queue_took_back_is_pending(gang: Workload, phase: Phase) -> None:
    seen(Phase.RUNNING, RUNS)
    again = Observation(
        gang.pk, gang.run, 2, phase, datetime.now(UTC), ranks=(UNPLACED,), starts_over=True
    )
    assert reconcile.apply(now(gang), again)
    assert now(gang).phase == Phase.PENDING


@pytest.mark.parametrize("phase", [Phase.RUNNING, Phase.PENDING])
def test_a_gang_that_ended_by_an_eviction_runs_again(gang: Workload, phase: Phase) -> None:
    seen(phase, RUNS)
    ended = Observation(
        gang.pk,
        1,
        2,
        Phase.STOPPED,
        datetime.now(UTC),
        starts_over=True,
        message="It was too early.",
    )
    assert reconcile.apply(now(gang), ended)
    row = now(gang)
    assert (row.phase, row.run, row.message) == (Phase.RESUMING, 2, "It was too early.")


def test_a_gang_that_was_asked_to_stop_does_not_run_again(gang: Workload) -> None:
    seen(Phase.RUNNING, RUNS)
    now(gang).move(Phase.STOPPING)
    ended = Observation(gang.pk, 1, 2, Phase.STOPPED, datetime.now(UTC), starts_over=True)
    assert reconcile.apply(now(gang), ended)
    assert (now(gang).phase, now(gang).run) == (Phase.STOPPED, 1)
