"""Each change of what a workload waits for is kept; what the cluster says becomes history."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from engines.base import ClusterEvent, Observation
from projects.models import Project
from spec.causes import Cause, CauseKind, Share
from spec.phases import Phase
from tests.workloads.domain.conftest import waiting as waits
from workloads import heard, reconcile, relist
from workloads.models import Event, Workload

GPUS = Cause(CauseKind.CAPACITY, "Not enough free GPUs", shares=(Share("few", 2),), total=3)
IMAGE = Cause(CauseKind.IMAGE, "The image a:1 cannot be pulled")
AT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def workload(project: Project) -> Workload:
    return waits(project, "a", gpus=1)


def see(workload: Workload, sequence: int, phase: Phase, cause: Cause | None = None) -> Observation:
    message = cause.message if cause else ""
    seen = Observation(workload.pk, workload.run, sequence, phase, AT, message=message, cause=cause)
    reconcile.apply(Workload.objects.get(pk=workload.pk), seen)
    return seen


def titles(workload: Workload) -> list[tuple[str, bool]]:
    return [(row.title, row.until is None) for row in workload.causes.all()]


def test_each_change_of_cause_is_kept(workload: Workload) -> None:
    see(workload, 1, Phase.PENDING, GPUS)
    see(workload, 2, Phase.PENDING, replace(GPUS, shares=(Share("few", 3),)))
    assert titles(workload) == [("Not enough free GPUs", True)]
    assert workload.causes.get().evidence == {"total": 3, "shares": [["few", 3]]}
    see(workload, 3, Phase.INITIALIZING, IMAGE)
    see(workload, 4, Phase.RUNNING)
    assert titles(workload) == [(GPUS.title, False), (IMAGE.title, False)]


@pytest.mark.parametrize("end", [Phase.STOPPED, Phase.FAILED, None])
def test_the_end_ends_the_cause(workload: Workload, end: Phase | None) -> None:
    see(workload, 1, Phase.PENDING, GPUS)
    reconcile.apply(
        Workload.objects.get(), Observation(workload.pk, workload.run, 2, end, AT, cause=None)
    )
    assert titles(workload) == [(GPUS.title, False)]


def test_causes_are_bounded(workload: Workload, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workloads.waiting.MOST", 3)
    for sequence in range(1, 9):
        see(workload, sequence, Phase.PENDING, replace(GPUS, title=f"cause {sequence}"))
    assert [title for title, _ in titles(workload)] == ["cause 6", "cause 7", "cause 8"]


def test_a_list_of_what_is_known_changes_nothing(workload: Workload) -> None:
    seen = see(workload, 1, Phase.PENDING, GPUS)
    later = replace(seen, sequence=9)
    assert list(relist.changed(workload.cluster, [later])) == []
    for other in (
        replace(later, phase=Phase.RUNNING),
        replace(later, cause=IMAGE),
        replace(later, cause=None),
        replace(later, attempt=1),
        replace(later, message="something else"),
    ):
        assert list(relist.changed(workload.cluster, [other])) == [other]


def test_a_list_tells_of_what_ran_as_before(workload: Workload) -> None:
    see(workload, 1, Phase.RUNNING)
    again = see(workload, 2, Phase.INITIALIZING)
    assert list(relist.changed(workload.cluster, [replace(again, sequence=9)])) == []


def test_a_list_costs_few_queries(
    project: Project, workload: Workload, django_assert_max_num_queries: object
) -> None:
    listed = [see(workload, 1, Phase.PENDING)]
    listed += [see(waits(project, f"w{n}", gpus=0), 1, Phase.PENDING) for n in range(20)]
    with django_assert_max_num_queries(3):  # type: ignore[operator]
        assert list(relist.changed(workload.cluster, listed)) == []


def said(workload: Workload, **also: object) -> ClusterEvent:
    made = ClusterEvent(workload.pk, "k", AT, "BackOff", "Back-off restarting", about="Pod a-0")
    return replace(made, **also)  # type: ignore[arg-type]


def test_what_the_cluster_says_is_kept_once(workload: Workload) -> None:
    for _ in range(2):
        heard.note(workload.cluster, [said(workload)])
    heard.note(workload.cluster, [said(workload, count=7, at=AT + timedelta(minutes=1))])
    heard.note(workload.cluster, [said(workload, count=2)])  # late
    event = Event.objects.get(source="cluster")
    assert (event.message, event.count) == ("BackOff: Back-off restarting (Pod a-0)", 7)


def test_what_the_cluster_says_is_bounded(
    workload: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heard, "MOST", 2)
    told = [said(workload, key=f"k{n}", at=AT + timedelta(seconds=n)) for n in range(5)]
    heard.note(workload.cluster, told)
    assert set(Event.objects.filter(source="cluster").values_list("key", flat=True)) == {"k3", "k4"}


def test_what_is_said_of_strangers_is_nobodys(workload: Workload) -> None:
    Workload.objects.update(deleted_at=AT)
    heard.note(workload.cluster, [said(workload)])
    assert not Event.objects.filter(source="cluster").exists()
