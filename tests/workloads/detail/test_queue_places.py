"""The page of a workload that waits: its place in the queue, and who has what it waits for."""

import re

import pytest
from django.test import Client

from accounts.models import User
from projects.models import Project
from spec.phases import Phase
from tests.factories import ProjectFactory, WorkloadFactory
from tests.web import signed_in
from tests.workloads.gangs import waiting
from workloads.models import Draft, Workload
from workloads.scheduling import queue_places
from workloads.scheduling.fit import foresight

TAGS = re.compile(r"<[^>]+>")


@pytest.fixture
def other_project(project: Project) -> Project:
    """On the same machine, closed to the member of ``project``."""
    return ProjectFactory(
        name="hidden", cluster=project.cluster, department=project.department, gpu_quota=4
    )


@pytest.fixture
def queue(project: Project, other_project: Project) -> list[Workload]:
    """All 4 GPUs are held, two workloads wait before ``last``."""
    for owner, name in ((project, "runs-here"), (other_project, "zanzibar")):
        holder = waiting(owner, name, 2)
        holder.move(Phase.RUNNING)
        holder.ranks.update(gpu_devices=[0, 1] if owner == project else [2, 3])
    names = ((project, "first"), (other_project, "zanzibar-two"), (project, "last"))
    return [waiting(owner, name, 2) for owner, name in names]


def shown(client: Client, workload: Workload) -> str:
    page = client.get(workload.get_absolute_url()).content.decode()
    return " ".join(TAGS.sub("", page).split())


def test_the_place_in_the_queue_names_only_what_the_reader_may_see(
    client: Client, administrator: User, queue: list[Workload]
) -> None:
    page = shown(client, queue[2])
    assert (
        "Position 3 of 3 in the queue. Ahead of it: first; a workload of another project." in page
    )
    assert "zanzibar" not in page
    page = shown(signed_in(administrator), queue[2])
    assert "Ahead of it: first, zanzibar-two." in page
    assert "Position 1 of 3 in the queue." in shown(client, queue[0])


def test_holders_of_gpus_are_named_to_whom_may_see_them(
    client: Client, administrator: User, queue: list[Workload]
) -> None:
    page = shown(client, queue[2])
    assert "runs-here team-a 2 GPUs" in page
    assert "A workload of another project: 2 GPUs" in page
    assert "zanzibar hidden 2 GPUs" in shown(signed_in(administrator), queue[2])


def test_a_copy_on_this_machine_is_offered_only_if_it_would_start(
    client: Client, project: Project
) -> None:
    project.gpu_quota = 8
    project.save()
    holder = waiting(project, "holder", 1)
    holder.move(Phase.RUNNING)
    holder.ranks.update(gpu_devices=[0])
    wide = waiting(project, "wide", 2, workers=2)
    draft = {"cluster": str(project.cluster_id), "project": project.pk, "name": "wide"}
    worker = {"values": {"image": "x:1", "compute": {"gpuDevicesRequest": 2}}}
    workers_only = {"architecture": "workers_only", "values": {"numWorkers": 2}}
    wide.draft_json = {**draft, **workers_only, "worker": worker}
    wide.save()
    page = client.get(wide.get_absolute_url()).content.decode()
    assert "Largest gang that fits now: 1 worker." in page
    assert "A copy of that size would wait, too." in page
    assert 'name="change"' not in page, "it would wait behind the one that it is a copy of"
    Workload.objects.filter(pk=wide.pk).update(queued_at="2099-01-01T00:00Z")
    page = client.get(wide.get_absolute_url()).content.decode()
    (change,) = re.findall(r'name="change" value="(workers[^"]*)"', page)
    client.post(f"/workloads/{wide.pk}/copy/", {"change": change})
    assert Draft.objects.get().content.values["numWorkers"] == 1


def test_no_copy_is_tried_among_many(
    client: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foresight, "MAX_TRIED", 0)
    assert "Largest gang" not in shown(client, waiting(project, "wide", 5))


def test_a_cluster_with_a_queue_shows_the_age_and_what_others_hold(
    client: Client, project: Project, other_project: Project
) -> None:
    cluster = project.cluster
    cluster.capabilities_json["queues"] = True
    cluster.save()
    cluster.nodes.update(allocated_gpus=3)
    WorkloadFactory(project=other_project, name="zanzibar", pending=True)
    workload = WorkloadFactory(project=project, pending=True)
    page = shown(client, workload)
    assert "Position 2 of 2 by age." in page
    assert "Pods that Trainyard did not create: 3 GPUs" in page
    cluster.capabilities_json["quotas"] = True
    cluster.save()
    assert "Position 1 of 1 in the queue of team-a, by age." in shown(client, workload)


def test_a_long_queue_has_no_positions(
    client: Client, queue: list[Workload], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_places, "MAX_WAITING", 2)
    assert "Position" not in shown(client, queue[2])


def test_of_many_holders_the_largest_are_named(
    client: Client, queue: list[Workload], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_places, "MAX_NAMED", 1)
    small = waiting(queue[0].project, "small", 1)
    small.move(Phase.RUNNING)
    page = shown(client, queue[2])
    assert "runs-here team-a 2 GPUs" in page
    assert "1 more workload: 1 GPU" in page
