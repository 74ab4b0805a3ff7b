"""A project's default queue of Kueue: who sets it, and which workloads get it."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.test import Client

from accounts.models import User
from audit.models import AuditEntry
from clusters.models import Cluster
from projects.models import Project
from projects.services import create_project, update_project
from tests.caller import Caller
from tests.factories import ClusterFactory, ProjectFactory, UserFactory, all_frameworks
from tests.projects.posts import project_form
from tests.web import signed_in

pytestmark = pytest.mark.django_db
UNCHANGED: dict[str, Any] = {
    **{"name": "vision", "department": "default", "description": "", "members": ()},
    **{"gpu_quota": 1, "cpu_quota": None, "memory_quota": None, "over_quota": True},
}


@pytest.fixture
def cluster() -> Cluster:
    return cluster_with_queues(("trainyard-vision", "team"), ("trainyard-speech", "other"))


def cluster_with_queues(*queues: tuple[str, str]) -> Cluster:
    """Return a cluster with Kueue and these LocalQueues, each as a namespace and a name."""
    rows = [
        {"namespace": space, "name": name, "cluster_queue": "gpus", "quotas": None}
        for space, name in queues
    ]
    capabilities = all_frameworks() | {"kueue": "v1beta2", "local_queues": rows}
    made: Cluster = ClusterFactory(
        kind="kubernetes",
        name="prod",
        capabilities_json=capabilities,
        settings_json={"namespace_prefix": "trainyard-"},
    )
    return made


@pytest.fixture
def administrator() -> User:
    user: User = UserFactory(administrator=True)
    return user


@pytest.fixture
def client(administrator: User) -> Client:
    return signed_in(administrator)


def test_the_form_offers_the_queues_of_the_project_and_keeps_one(
    client: Client, cluster: Cluster
) -> None:
    page = client.get("/projects/new/").content.decode()
    assert '<option value="team">' in page
    assert '<option value="other">' in page, "the namespace of a new project is not known yet"
    form = project_form(cluster=cluster, name="vision", default_queue="team")
    client.post("/projects/new/", form)
    project = Project.objects.get()
    assert project.default_queue == "team"
    assert "Default queue" in client.get(f"/projects/{project.pk}/").content.decode()
    page = client.get(f"/projects/{project.pk}/edit/").content.decode()
    assert '<option value="team">' in page
    assert '<option value="other">' not in page
    client.post(f"/projects/{project.pk}/edit/", form | {"default_queue": ""})
    project.refresh_from_db()
    assert project.default_queue == ""


def test_a_cluster_without_kueue_is_not_asked_for_a_queue(client: Client) -> None:
    project = ProjectFactory()
    for address in ("/projects/new/", f"/projects/{project.pk}/edit/", f"/projects/{project.pk}/"):
        assert "Default queue" not in client.get(address).content.decode()


def test_a_default_queue_needs_kueue_and_a_name_that_kubernetes_takes(
    administrator: User, cluster: Cluster
) -> None:
    with pytest.raises(ValidationError, match=r"has no Kueue.*Leave it empty"):
        create_project(by=administrator, name="x", cluster=ClusterFactory(), default_queue="team")
    with pytest.raises(ValidationError, match="Use lower-case letters, digits"):
        create_project(by=administrator, name="x", cluster=cluster, default_queue="Team A")


def test_a_change_of_it_is_recorded_and_other_changes_keep_it(
    administrator: User, cluster: Cluster
) -> None:
    project = create_project(
        by=administrator, name="vision", cluster=cluster, default_queue=" team "
    )
    assert AuditEntry.objects.latest("pk").after["default_queue"] == "team"
    update_project(project, by=administrator, **UNCHANGED)
    assert project.default_queue == "team"
    update_project(project, by=administrator, default_queue="other", **UNCHANGED)
    entry = AuditEntry.objects.latest("pk")
    assert (entry.before["default_queue"], entry.after["default_queue"]) == ("team", "other")


def test_rest_creates_reads_and_changes_it(administrator: User, cluster: Cluster) -> None:
    call = Caller(administrator)
    body = {"name": "vision", "clusterId": str(cluster.pk), "defaultQueue": "team"}
    status, project = call("POST", "/org-unit/projects", body)
    assert (status, project["defaultQueue"]) == (201, "team")
    path = f"/org-unit/projects/{project['id']}"
    assert call("PUT", path, {"description": "Images"})[1]["defaultQueue"] == "team"
    assert call("PUT", path, {"defaultQueue": ""})[1]["defaultQueue"] == ""


@pytest.mark.usefixtures("administrator")
def test_the_command_sets_it(cluster: Cluster) -> None:
    call_command("add_project", "vision", "--cluster", "prod", "--queue", "team")
    assert Project.objects.get().default_queue == "team"


def test_rest_lists_the_queues_of_a_project(administrator: User, cluster: Cluster) -> None:
    rows = cluster.capabilities_json["local_queues"]
    rows[0]["quotas"] = [
        {"resource": "nvidia.com/gpu", "nominal": 8, "most": None, "most_of_role": None}
    ]
    rows.append(rows[0] | {"name": "slow", "quotas": None, "why_inactive": "it is stopped"})
    cluster.save()
    project = create_project(by=administrator, name="vision", cluster=cluster, default_queue="team")
    call = Caller(administrator)
    status, answer = call("GET", f"/org-unit/projects/{project.pk}/queues")
    assert status == 200
    team, slow = answer["queues"]
    assert team == {
        "name": "team",
        "clusterQueue": "gpus",
        "isDefault": True,
        "active": True,
        "message": "",
        "quotas": [{"resource": "nvidia.com/gpu", "nominal": 8, "most": None}],
    }
    assert (slow["isDefault"], slow["active"], slow["message"]) == (False, False, "it is stopped")
    assert call("GET", f"/org-unit/projects/{ProjectFactory().pk}/queues")[1] == {"queues": []}


def test_queues_of_a_project_are_hidden_from_others(administrator: User, cluster: Cluster) -> None:
    project = create_project(by=administrator, name="vision", cluster=cluster)
    status, _ = Caller(UserFactory())("GET", f"/org-unit/projects/{project.pk}/queues")
    assert status == 404
