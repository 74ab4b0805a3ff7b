"""The lifecycle bar never goes back within a run."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from spec.phases import Phase, Reason
from tests.factories import UserFactory, WorkloadFactory
from workloads.detail.lifecycle import Moment, build_stages, read_moments
from workloads.history import events
from workloads.models import Event, Workload

NOW = timezone.now()


def states(workload: Workload) -> str:
    return " ".join(stage.state for stage in build_stages(workload, read_moments(workload)))


def told(workload: Workload, *phases: Phase, verb: str = "submit") -> Workload:
    for number, phase in enumerate(phases):
        workload.phase = phase
        events.record_phase(workload, verb="" if number else verb)
    return workload


@pytest.mark.parametrize(
    ("phases", "expected"),
    [
        ([Phase.CREATING], "current ahead ahead ahead ahead"),
        ([Phase.CREATING, Phase.PENDING], "current ahead ahead ahead ahead"),
        ([Phase.CREATING, Phase.INITIALIZING], "done done current ahead ahead"),
        ([Phase.CREATING, Phase.INITIALIZING, Phase.RUNNING], "done done done current ahead"),
        ([Phase.RUNNING, Phase.STOPPING], "done done done current ahead"),
        ([Phase.RUNNING, Phase.COMPLETED], "done done done done good"),
        ([Phase.INITIALIZING, Phase.FAILED], "done done done skipped bad"),
        ([Phase.PENDING, Phase.STOPPED], "done skipped skipped skipped stopped"),
        # A gang that restarts was running, whatever it does now.
        ([Phase.RUNNING, Phase.PENDING], "done done done current ahead"),
        ([Phase.RUNNING, Phase.UNKNOWN], "done done done current ahead"),
    ],
)
def test_the_lifecycle_bar_shows_how_far_a_workload_came(
    phases: list[Phase], expected: str, db: None
) -> None:
    assert states(told(WorkloadFactory(), *phases)) == expected


def test_a_new_run_starts_over(db: None) -> None:
    workload = told(WorkloadFactory(), Phase.RUNNING, Phase.STOPPED)
    told(workload, Phase.RESUMING, verb="run")
    assert states(workload) == "current ahead ahead ahead ahead"


def test_a_preempted_workload_shows_its_present_run(db: None) -> None:
    workload = told(WorkloadFactory(), Phase.CREATING, Phase.RUNNING, Phase.STOPPED)
    told(workload, Phase.PENDING, Phase.INITIALIZING, Phase.RUNNING, verb="")
    moments = read_moments(workload)
    assert [moment.phase for moment in moments] == [
        Phase.PENDING,
        Phase.INITIALIZING,
        Phase.RUNNING,
    ]
    end = build_stages(workload, moments)[-1]
    assert (end.name, end.state, end.at) == ("Completed", "ahead", None)


def test_the_head_says_that_the_run_before_was_preempted(client: Client, db: None) -> None:
    user = UserFactory(administrator=True)
    client.force_login(user)
    workload = told(WorkloadFactory(run=2), Phase.CREATING, Phase.RUNNING)
    text = "Taken back by team-a/big, within its quota."
    Workload.objects.filter(pk=workload.pk).update(phase=Phase.RUNNING)
    workload.events.create(phase=Phase.STOPPED, reason=Reason.PREEMPTED, message=text)
    told(workload, Phase.PENDING, Phase.RUNNING, verb="")
    page = client.get(f"/workloads/{workload.pk}/").content.decode()
    assert "Run 1 was preempted" in page
    assert text in page
    workload.events.create(phase=Phase.STOPPED, reason=Reason.STOPPED_BY_USER)
    assert "was preempted" not in client.get(f"/workloads/{workload.pk}/").content.decode()


def test_a_stage_that_is_ahead_has_no_time(db: None) -> None:
    workload = told(WorkloadFactory(), Phase.CREATING, Phase.PENDING)
    ended = Moment(Phase.COMPLETED, NOW)
    for stage in build_stages(workload, [*read_moments(workload), ended]):
        assert stage.state != "ahead" or stage.at is None


def test_an_event_that_was_written_late_changes_nothing(db: None) -> None:
    workload = told(WorkloadFactory(), Phase.CREATING, Phase.INITIALIZING, Phase.RUNNING)
    before = states(workload)
    Event.objects.create(
        workload=workload, phase=Phase.PENDING, at=timezone.now() - timedelta(hours=1)
    )
    assert states(workload) == before


@given(st.lists(st.sampled_from(list(Phase)), min_size=1, max_size=12))
def test_the_lifecycle_bar_never_shrinks_within_a_run(phases: list[Phase]) -> None:
    run = [Moment(phase, NOW + timedelta(seconds=n)) for n, phase in enumerate(phases)]
    furthest = 0
    for length in range(1, len(run) + 1):
        workload = Workload(phase=phases[length - 1])
        stages = build_stages(workload, run[:length])
        reached = sum(stage.state in {"done", "current"} for stage in stages)
        if stages[-1].state == "ahead":
            assert reached >= furthest
            furthest = reached
