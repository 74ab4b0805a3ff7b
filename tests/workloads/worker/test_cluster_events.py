"""What the cluster says of a workload becomes lines of its history."""

from dataclasses import replace
from datetime import timedelta

import pytest

from engines.base import ClusterEvent
from projects.models import Project
from tests.workloads.gangs import waiting as waits
from tests.workloads.observations import AT
from workloads.models import Event, Workload
from workloads.worker import cluster_events


@pytest.fixture
def workload(project: Project) -> Workload:
    return waits(project, "a", gpus=1)


def said(workload: Workload, **also: object) -> ClusterEvent:
    made = ClusterEvent(workload.pk, "k", AT, "BackOff", "Back-off restarting", about="Pod a-0")
    return replace(made, **also)  # type: ignore[arg-type]


def test_an_event_of_the_cluster_is_kept_once_in_the_history(workload: Workload) -> None:
    for _ in range(2):
        cluster_events.store_events(workload.cluster, [said(workload)])
    cluster_events.store_events(
        workload.cluster, [said(workload, count=7, at=AT + timedelta(minutes=1))]
    )
    cluster_events.store_events(workload.cluster, [said(workload, count=2)])  # late
    event = Event.objects.get(source="cluster")
    assert (event.message, event.count) == ("BackOff: Back-off restarting (Pod a-0)", 7)


def test_events_of_the_cluster_in_the_history_are_bounded(
    workload: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_events, "MAX_EVENTS", 2)
    told = [said(workload, key=f"k{n}", at=AT + timedelta(seconds=n)) for n in range(5)]
    cluster_events.store_events(workload.cluster, told)
    assert set(Event.objects.filter(source="cluster").values_list("key", flat=True)) == {"k3", "k4"}


def test_a_cluster_event_about_an_unknown_workload_is_not_kept(workload: Workload) -> None:
    Workload.objects.update(deleted_at=AT)
    cluster_events.store_events(workload.cluster, [said(workload)])
    assert not Event.objects.filter(source="cluster").exists()
