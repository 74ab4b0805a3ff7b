"""A project's default node pools: who sets them, which workloads get them, what they keep."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from accounts.models import User
from audit.models import AuditEntry
from clusters.models import Cluster, NodePool
from clusters.nodes.pools import delete_pool, obstacle_to_delete
from core.deletion import InUse
from projects.models import Project
from projects.services import create_project, update_project
from spec.formats import documents
from tests.factories import (
    ClusterFactory,
    ProjectFactory,
    UserFactory,
    WorkloadFactory,
    workload_spec,
)
from tests.projects.posts import project_form
from tests.web import signed_in

pytestmark = pytest.mark.django_db
NAMES = ["a100", "h100", "t4"]


@pytest.fixture
def cluster() -> Cluster:
    cluster: Cluster = ClusterFactory(kind="kubernetes", name="prod")
    for name in NAMES:
        NodePool.objects.create(cluster=cluster, name=name, label_key="gpu", label_value=name)
    return cluster


@pytest.fixture
def administrator() -> User:
    user: User = UserFactory(administrator=True)
    return user


@pytest.fixture
def client(administrator: User) -> Client:
    return signed_in(administrator)


def listed(*names: str) -> dict[str, str]:
    cells = {f"default_node_pools-{at}-item": name for at, name in enumerate(names)}
    return {"default_node_pools": "items", **cells}


def test_the_form_keeps_their_order(client: Client, cluster: Cluster) -> None:
    client.post("/projects/new/", project_form(cluster=cluster, **listed("t4", "", "a100")))
    project = Project.objects.get()
    assert project.default_node_pools == ["t4", "a100"]
    page = client.get(f"/projects/{project.pk}/").content.decode()
    assert "t4, a100" in page
    form = client.get(f"/projects/{project.pk}/edit/").content.decode()
    assert '<option value="t4" selected>' in form
    assert "Move up" in form
    assert "(not on this cluster)" not in form
    order = listed("a100", "default", "t4")
    client.post(f"/projects/{project.pk}/edit/", project_form(cluster=cluster, **order))
    project.refresh_from_db()
    assert project.default_node_pools == ["a100", "default", "t4"]
    client.post(f"/projects/{project.pk}/edit/", project_form(cluster=cluster))
    page = client.get(f"/projects/{project.pk}/").content.decode()
    assert "None: any node" in page


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["a100", "a100"], "Each node pool can be in the list once."),
        (["gone"], "Select a valid choice. gone is not one of the available choices."),
        (["elsewhere"], "prod has no node pool elsewhere. Choose among its own."),
    ],
)
def test_a_wrong_list_is_refused_at_its_field(
    client: Client, cluster: Cluster, names: list[str], sentence: str
) -> None:
    other = ClusterFactory(kind="kubernetes")
    NodePool.objects.create(cluster=other, name="elsewhere", label_key="gpu", label_value="x")
    response = client.post("/projects/new/", project_form(cluster=cluster, **listed(*names)))
    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert not Project.objects.exists()


def test_a_form_offers_the_pools_of_its_own_cluster(client: Client, cluster: Cluster) -> None:
    project = ProjectFactory()
    page = client.get(f"/projects/{project.pk}/edit/").content.decode()
    assert '<option value="default">' in page
    assert "a100" not in page


def test_verbs_judge_and_record_them(administrator: User, cluster: Cluster) -> None:
    with pytest.raises(ValidationError, match="has no node pool gone"):
        create_project(by=administrator, name="x", cluster=cluster, default_node_pools=["gone"])
    project = create_project(by=administrator, name="x", cluster=cluster, default_node_pools=["t4"])
    assert AuditEntry.objects.latest("pk").after["default_node_pools"] == "t4"
    same: dict[str, Any] = {"name": "x", "department": "default", "description": "", "members": ()}
    same |= {"gpu_quota": 1, "cpu_quota": None, "memory_quota": None, "over_quota": True}
    update_project(project, by=administrator, **same)
    assert project.default_node_pools == ["t4"]
    update_project(project, by=administrator, default_node_pools=[], **same)
    assert project.default_node_pools == []


def test_a_pool_that_is_a_default_stays_until_the_list_is_changed(
    administrator: User, cluster: Cluster
) -> None:
    pool = NodePool.objects.get(name="a100")
    home = ProjectFactory(cluster=cluster, name="team-a", default_node_pools=["t4", "a100"])
    ProjectFactory(default_node_pools=["a100"])  # of another cluster
    sentence = "Projects have a100 as a default: team-a. Remove it there first."
    assert obstacle_to_delete(pool, administrator) == sentence
    with pytest.raises(InUse, match="team-a"):
        delete_pool(pool, by=administrator)
    spec = documents.dump_spec(workload_spec()) | {"nodePools": ["a100"]}
    WorkloadFactory(project=home, cluster=cluster, name="training", spec_json=spec)
    assert obstacle_to_delete(pool, administrator).startswith("Workloads use a100: training.")
    assert obstacle_to_delete(NodePool.objects.get(name="h100"), administrator) == ""
    Project.objects.update(default_node_pools=[])
    home.workloads.all().delete()
    delete_pool(pool, by=administrator)
