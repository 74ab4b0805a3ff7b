"""A turn of watching ends when its cluster is reached in another way, or is deleted."""

import time
from dataclasses import replace

import pytest
from django.db.models import F

from clusters import services
from clusters.models import Cluster
from clusters.nodes import poll
from core.broker.lease import hold_lease
from engines.base import ClusterEvent
from engines.fake import NODE, FakeEngine
from projects.models import Project
from spec.framework import Framework
from spec.phases import Phase
from tests.clusters.answering import answers
from tests.factories import ClusterFactory
from tests.workloads.gangs import now, waiting
from workloads import tasks
from workloads.launch import launch_with_secrets
from workloads.worker import monitor

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]


def test_a_new_connection_is_taken_long_before_the_minute_is_over(
    engine: FakeEngine, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = FakeEngine()
    cluster = project.cluster
    monkeypatch.setattr(monitor, "CONNECTION_CHECK_SECONDS", 0.0)
    both = {cluster.connection_version: engine, cluster.connection_version + 1: fresh}
    answers(monkeypatch, "local", lambda row: both[row.connection_version])
    workload = waiting(project, "a", gpus=1)
    fresh.submit(launch_with_secrets(workload))
    fresh.show(workload.handle, Phase.RUNNING)

    def replace() -> list[ClusterEvent]:
        """As the form does, while the turn goes on."""
        Cluster.objects.update(connection_version=F("connection_version") + 1)
        return []

    monkeypatch.setattr(engine, "events", replace)
    monkeypatch.setattr(fresh, "events", replace)
    assert monitor.watch_cluster(cluster), "so that the next turn follows at once"
    assert monitor.watch_cluster(Cluster.objects.get(pk=cluster.pk))
    assert now(workload).phase == Phase.RUNNING
    monitor.close_resting_watch(cluster.pk)


def test_each_turn_of_the_monitor_finds_out_what_the_cluster_offers(
    engine: FakeEngine, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitor, "TURN_SECONDS", 0.0)
    cluster = project.cluster
    for offered in ([], [Framework.MPI]):
        engine.frameworks = offered
        assert monitor.watch_cluster(cluster)
        cluster.refresh_from_db()
        mpi = cluster.capabilities.framework(Framework.MPI)
        assert (mpi.available, bool(mpi.why)) == (bool(offered), not offered)
    monitor.close_resting_watch(cluster.pk)


def test_every_few_minutes_a_list_shows_what_the_watch_missed(
    engine: FakeEngine, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitor, "TURN_SECONDS", 0.0)
    workload = waiting(project, "a", gpus=1)
    engine.submit(launch_with_secrets(workload))
    assert monitor.watch_cluster(project.cluster)
    engine.show(workload.handle, Phase.RUNNING)
    for told in engine._watchers:
        told.clear()
    assert monitor.watch_cluster(project.cluster)
    assert now(workload).phase == Phase.INITIALIZING
    with monkeypatch.context() as later:
        later.setattr(monitor, "RELIST_SECONDS", 0.0)
        assert monitor.watch_cluster(project.cluster), (
            "it begins with a list, which the next one ends"
        )
    assert monitor.watch_cluster(project.cluster)
    assert now(workload).phase == Phase.RUNNING
    monitor.close_resting_watch(project.cluster.pk)


def test_a_silent_node_is_reported_well_within_a_minute(
    engine: FakeEngine, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poll, "EVERY_SECONDS", 0.0)
    monkeypatch.setattr(monitor, "COLLECT_EVERY_SECONDS", 0.0)
    monkeypatch.setattr(monitor, "CONNECTION_CHECK_SECONDS", 0.0)
    nodes = project.cluster.nodes
    seen = []

    def fall_silent() -> list[ClusterEvent]:
        """While the turn goes on, which ends when that was written down."""
        seen.append(nodes.get().ready)
        engine.machines = [replace(NODE, ready=False)]
        if not seen[-1]:
            Cluster.objects.update(connection_version=F("connection_version") + 1)
        return []

    monkeypatch.setattr(engine, "events", fall_silent)
    began = time.monotonic()
    assert monitor.watch_cluster(project.cluster)
    assert (seen[0], seen[-1]) == (True, False)
    assert time.monotonic() - began < monitor.TURN_SECONDS / 2
    monitor.close_resting_watch(project.cluster.pk)


def test_a_cluster_that_is_deleted_is_watched_no_more(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = ClusterFactory()
    monkeypatch.setattr(monitor, "CONNECTION_CHECK_SECONDS", 0.0)

    def delete() -> list[ClusterEvent]:
        cluster.delete()
        return []

    pk = cluster.pk
    monkeypatch.setattr(engine, "events", delete)
    tasks.monitor_cluster(str(pk))
    assert pk not in monitor.resting_watches
    monitor.resting_watches[pk] = watch = monitor.Watch.open(engine)  # of an earlier turn
    tasks.monitor_cluster(str(pk))
    assert pk not in monitor.resting_watches
    assert next(watch.observations, "closed") == "closed"


def test_a_second_watch_of_a_cluster_leaves_the_first_alone(
    engine: FakeEngine, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitor, "TURN_SECONDS", 0.0)
    cluster = project.cluster
    assert monitor.watch_cluster(cluster)
    before = monitor.resting_watches[cluster.pk]
    answers = []

    def refresh(*_: object) -> bool:
        """A turn begins with it; the sweep's message comes just then."""
        answers.append(monitor.watch_cluster(cluster))
        return True

    monkeypatch.setattr(services, "refresh", refresh)
    assert monitor.watch_cluster(cluster)
    assert answers == [False]
    assert monitor.resting_watches[cluster.pk] is before, "else all is listed anew"
    monitor.close_resting_watch(cluster.pk)


def test_a_watch_ends_when_another_process_has_the_turns(
    engine: FakeEngine, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitor, "TURN_SECONDS", 0.0)
    cluster = project.cluster
    assert monitor.watch_cluster(cluster)
    watch = monitor.resting_watches[cluster.pk]
    with hold_lease(monitor.lease_name(cluster.pk), seconds=5.0) as extend:
        assert extend
        assert not monitor.watch_cluster(cluster)
    assert cluster.pk not in monitor.resting_watches
    assert next(watch.observations, "closed") == "closed"
