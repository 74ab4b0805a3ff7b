"""Each change of what a workload waits for is kept."""

from dataclasses import replace

import pytest

from engines.base import Observation
from projects.models import Project
from spec.phases import Phase
from spec.problems.causes import Share
from tests.workloads.gangs import waiting as waits
from tests.workloads.observations import AT, GPUS, IMAGE, see
from workloads import reconcile
from workloads.models import Workload


@pytest.fixture
def workload(project: Project) -> Workload:
    return waits(project, "a", gpus=1)


def titles(workload: Workload) -> list[tuple[str, bool]]:
    return [(row.title, row.until is None) for row in workload.causes.all()]


def test_each_change_of_the_cause_of_a_wait_is_kept(workload: Workload) -> None:
    see(workload, 1, Phase.PENDING, GPUS)
    see(workload, 2, Phase.PENDING, replace(GPUS, shares=(Share("few", 3),)))
    assert titles(workload) == [("Not enough free GPUs", True)]
    assert workload.causes.get().evidence == {"total": 3, "shares": [["few", 3]]}
    see(workload, 3, Phase.INITIALIZING, IMAGE)
    see(workload, 4, Phase.RUNNING)
    assert titles(workload) == [(GPUS.title, False), (IMAGE.title, False)]


@pytest.mark.parametrize("end", [Phase.STOPPED, Phase.FAILED, None])
def test_the_end_of_a_workload_ends_its_cause(workload: Workload, end: Phase | None) -> None:
    see(workload, 1, Phase.PENDING, GPUS)
    reconcile.apply(
        Workload.objects.get(), Observation(workload.pk, workload.run, 2, end, AT, cause=None)
    )
    assert titles(workload) == [(GPUS.title, False)]


def test_causes_are_bounded(workload: Workload, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workloads.history.causes.MOST_CAUSES", 3)
    for sequence in range(1, 9):
        see(workload, sequence, Phase.PENDING, replace(GPUS, title=f"cause {sequence}"))
    assert [title for title, _ in titles(workload)] == ["cause 6", "cause 7", "cause 8"]
