"""GPUs over time, quotas and clusters on the overview."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from clusters.models import NodePool
from projects.models import Project
from spec.phases import Phase
from tests.factories import NodeFactory, ProjectFactory, WorkloadFactory
from tests.web import signed_in
from workloads.models import Event, Workload

HOUR = timedelta(hours=1)


def training_in_the_past(
    project: Project, gpus: float, *, began: timedelta, ended: timedelta
) -> Workload:
    """A workload that held GPUs in the past."""
    now = timezone.now()
    workload = WorkloadFactory(
        project=project, gpus=gpus, completed=True, created_at=now - began, completed_at=now - ended
    )
    Event.objects.create(workload=workload, phase=Phase.RUNNING, at=now - began)
    Event.objects.create(workload=workload, phase=Phase.COMPLETED, at=now - ended)
    return workload


def test_the_chart_has_a_band_for_each_project_with_quota_and_capacity(
    client: Client, project: Project
) -> None:
    training_in_the_past(project, 2.0, began=12 * HOUR, ended=6 * HOUR)
    training_in_the_past(ProjectFactory(name="hidden"), 4.0, began=12 * HOUR, ended=6 * HOUR)
    chart = client.get("/overview/gpus/").json()
    (band,) = chart["bands"]
    assert band["label"] == "team-a"
    times = dict(zip(chart["times"], band["gpus"], strict=True))
    now = timezone.now().timestamp()
    middle = min(times, key=lambda at: abs(at - (now - 9 * 3600)))
    assert times[middle] == 2.0
    assert band["gpus"][-1] == 0.0
    assert (chart["quota"], chart["capacity"]) == (4.0, 4)


def test_the_chart_covers_longer_periods_and_node_pools(client: Client, project: Project) -> None:
    workload = training_in_the_past(project, 1.0, began=50 * HOUR, ended=30 * HOUR)
    assert client.get("/overview/gpus/").json()["bands"] == []
    pool = NodePool.objects.create(cluster=project.cluster, name="fast", label_key="speed")
    Workload.objects.filter(pk=workload.pk).update(pool=pool)
    (band,) = client.get("/overview/gpus/?period=7d&by=pool").json()["bands"]
    assert band["label"] == "fast"


@pytest.mark.parametrize("by", ["member", "administrator"])
def test_administrators_see_nodes_that_are_not_ready(
    by: str, request: pytest.FixtureRequest, project: Project
) -> None:
    NodeFactory.create_batch(2, cluster=project.cluster, ready=False)
    user: User = request.getfixturevalue(by)
    page = " ".join(signed_in(user).get("/").content.decode().split())
    assert ("2 nodes not ready" in page) is (by == "administrator")


def test_quotas_show_what_each_project_uses(client: Client, project: Project) -> None:
    WorkloadFactory(project=project, running=True, gpus=3.0)
    assert "3 of 4" in client.get("/").content.decode()


def test_the_page_stays_small_however_much_there_is(
    client: Client, project: Project, member: User
) -> None:
    now = timezone.now()
    rows = [
        WorkloadFactory.build(
            **{"project": project, "cluster": project.cluster, "created_by": member},
            **{"name": f"w{number}x-{number}", "failed": True, "phase_updated_at": now},
            completed_at=now - number * HOUR,
        )
        for number in range(120)
    ]
    Workload.objects.bulk_create(rows)
    assert len(client.get("/").content) < 40_000
