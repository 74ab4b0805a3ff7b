"""A turn of watching ends when its cluster is reached in another way."""

import pytest
from django.db.models import F

from clusters import engines
from clusters.models import Cluster, Kind
from engines.base import ClusterEvent
from engines.fake import FakeEngine
from projects.models import Project
from spec.phases import Phase
from tests.workloads.domain.conftest import now, waiting
from workloads import monitor, reconcile

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]


def test_a_new_connection_is_taken_long_before_the_minute_is_over(
    engine: FakeEngine, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh, cluster = FakeEngine(), project.cluster
    monkeypatch.setattr(monitor, "ANEW_SECONDS", 0.0)
    both = {cluster.connection_version: engine, cluster.connection_version + 1: fresh}
    monkeypatch.setitem(engines.ENGINES, Kind.LOCAL, lambda row: both[row.connection_version])
    workload = waiting(project, "a", gpus=1)
    fresh.submit(reconcile.launch_of(workload))
    fresh.show(workload.handle, Phase.RUNNING)

    def replace() -> list[ClusterEvent]:
        """As the form does, while the turn goes on."""
        Cluster.objects.update(connection_version=F("connection_version") + 1)
        return []

    monkeypatch.setattr(engine, "events", replace)
    monkeypatch.setattr(fresh, "events", replace)
    assert monitor.turn(cluster), "so that the next turn follows at once"
    assert monitor.turn(Cluster.objects.get(pk=cluster.pk))
    assert now(workload).phase == Phase.RUNNING
    monitor.put_away(cluster.pk)
