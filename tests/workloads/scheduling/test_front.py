"""What admission costs does not grow with the line: of those that request the same it judges the
first alone."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from projects.models import Project
from spec.phases import Phase, Reason
from tests.workloads.gangs import phases, waiting
from workloads.models import Event, Workload
from workloads.scheduling import admission, front

STARTED = Phase.INITIALIZING
WAITS = Phase.PENDING


@pytest.fixture(autouse=True)
def a_line_of_three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front, "MAX_PER_LINE", 3)


def test_all_that_fit_start_however_long_the_line_is(project: Project) -> None:
    line = [waiting(project, f"w{number}", gpus=1) for number in range(9)]
    assert admission.admit_waiting(project.cluster) == 4
    assert phases(*line) == [STARTED] * 4 + [WAITS] * 5
    said = [Workload.objects.get(pk=it.pk).message for it in line[4:]]
    assert said[0].startswith("Not enough free capacity")
    assert said[3:] == [front.BEHIND] * 2


def test_the_line_moves_up_as_others_end(project: Project) -> None:
    line = [waiting(project, f"w{number}", gpus=4) for number in range(6)]
    for number in range(5):
        assert admission.admit_waiting(project.cluster) == 1
        assert phases(*line[: number + 1])[-1] == STARTED
        Workload.objects.filter(pk=line[number].pk).update(phase=Phase.COMPLETED)


def test_a_long_queue_of_its_project_does_not_delay_a_gang(project: Project) -> None:
    held = waiting(project, "held", gpus=2)
    admission.admit_waiting(project.cluster)
    line = [waiting(project, f"w{number}", gpus=5) for number in range(7)]
    small = waiting(project, "small", gpus=1)
    admission.admit_waiting(project.cluster)
    assert phases(held, *line, small) == [STARTED, *[WAITS] * 7, STARTED]


def test_specs_that_cannot_be_read_hold_up_no_line(project: Project) -> None:
    line = [waiting(project, f"w{number}", gpus=1) for number in range(5)]
    broken = [it.pk for it in line[:3]]
    Workload.objects.filter(pk__in=broken).update(spec_json={"numWorkers": "many"})
    admission.admit_waiting(project.cluster)
    assert admission.admit_waiting(project.cluster) == 2
    assert phases(*line) == [WAITS] * 3 + [STARTED] * 2
    assert Workload.objects.filter(reason=Reason.REFUSED).count() == 3


def test_a_longer_line_costs_no_more_queries_and_is_told_once(project: Project) -> None:
    waiting(project, "first", gpus=4)
    admission.admit_waiting(project.cluster)
    costs = []
    for length in (6, 18):
        for number in range(length):
            waiting(project, f"w{length}-{number}", gpus=4)
        admission.admit_waiting(project.cluster)
        told = Event.objects.count()
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert admission.admit_waiting(project.cluster) == 0
        costs.append(len(queries))
        assert Event.objects.count() == told
    assert costs[0] == costs[1]
    silent = Workload.objects.waiting().filter(message="")
    assert not silent.exists()


def test_a_summary_foresees_the_place_behind_a_long_line(project: Project) -> None:
    line = [waiting(project, f"w{number}", gpus=4) for number in range(6)]
    verdict = admission.predict_start(project.cluster, project, line[0].spec, [])
    assert not verdict.starts
    assert "behind" in verdict.message
