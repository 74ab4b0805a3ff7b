"""A cluster that Trainyard must not use: it is not added, or takes no workloads."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from clusters import connections, services, tasks
from clusters.models import Cluster, ConnectionTest, State
from engines.fake import FakeEngine
from engines.findings import CONNECTION, Finding, Level
from engines.queues import Queue
from projects import queues
from tests.caller import Caller
from tests.clusters.answering import answers
from tests.clusters.kubeconfigs import NEW, form_values, kubeconfig, reached
from tests.factories import ProjectFactory, UserFactory
from tests.web import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]
WHY = "The namespace prefix trainyard- is in use. Choose another one."
KNOWN = (
    "takes no workloads now: another Trainyard uses its namespace prefix. Ask an administrator: "
    "the cluster's Connection tab says what to do."
)
REFUSED = Finding(CONNECTION, "Namespace prefix", Level.REFUSED, WHY)
LACKS = Finding("Permissions", "secrets", Level.MISSING, "create: not allowed.")
BODY = {"kubeconfig": kubeconfig(), "namespacePrefix": "trainyard-"}
QUEUE = Queue("vision", "research", gpus=1, cpu=None, memory=None, weight=1)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    found = FakeEngine(findings=[LACKS, REFUSED], queues=True, quotas=True)
    answers(monkeypatch, "kubernetes", lambda cluster: found)
    connections.forget_engines()
    return found


@pytest.fixture
def admin() -> User:
    return UserFactory(administrator=True)


def looked_at(cluster: Cluster, fake: FakeEngine) -> None:
    services.refresh(cluster, lambda: [QUEUE])
    cluster.refresh_from_db()


def test_a_refused_cluster_says_so_before_all_else_until_it_is_free(fake: FakeEngine) -> None:
    """And no queues are made there, neither by a check nor after a project changed."""
    cluster = reached()
    ProjectFactory(cluster=cluster)
    looked_at(cluster, fake)
    queues.update_queues(cluster)
    assert (cluster.state, cluster.state_message) == (State.MISSING, f"It {KNOWN}")
    assert (cluster.refusal, fake.kept) == (WHY, [])
    fake.findings = []
    looked_at(cluster, fake)
    assert (cluster.state, cluster.refusal, fake.kept) == (State.CONNECTED, "", [QUEUE])


def test_nothing_is_submitted_to_a_refused_cluster(fake: FakeEngine, admin: User) -> None:
    cluster = reached(name="gpu")
    looked_at(cluster, fake)
    project = ProjectFactory(cluster=cluster, members=[admin])
    body = {
        "name": "train",
        "projectId": str(project.pk),
        "clusterId": str(cluster.pk),
        "spec": {"image": "x:1", "numWorkers": 2, "distributedFramework": "PyTorch"},
    }
    status, answer = Caller(admin)("POST", "/workloads/distributed", body)
    said = {issue["field"]: issue["details"] for issue in answer["complianceIssues"]}
    assert status == 400
    assert said["clusterId"] == f"gpu {KNOWN}"
    fake.findings = []
    looked_at(cluster, fake)
    assert Caller(admin)("POST", "/workloads/distributed", body)[0] == 202


def test_the_page_says_what_a_refusal_means(fake: FakeEngine, admin: User) -> None:
    cluster = reached()
    looked_at(cluster, fake)
    page = signed_in(admin).get(f"/clusters/{cluster.pk}/connection/").content.decode()
    assert "Trainyard cannot use this cluster" in page
    assert WHY in page
    assert "Refused" in page


def test_only_administrators_read_what_is_known_of_the_other_trainyard(fake: FakeEngine) -> None:
    cluster = reached()
    looked_at(cluster, fake)
    reader = UserFactory()
    ProjectFactory(cluster=cluster, members=[reader])
    status, answer = Caller(reader)("GET", f"/clusters/{cluster.pk}")
    assert (status, answer["status"]["message"]) == (200, f"It {KNOWN}")
    client = signed_in(reader)
    for address in (f"/clusters/{cluster.pk}/", "/clusters/"):
        page = client.get(address)
        assert (page.status_code, WHY in page.content.decode()) == (200, False)
    assert client.get(f"/clusters/{cluster.pk}/connection/").status_code in (403, 404)


def test_the_form_refuses_what_its_test_found(fake: FakeEngine, admin: User) -> None:
    client = signed_in(admin)
    client.post(NEW, form_values(action="test"))
    test = ConnectionTest.objects.get()
    tasks.test_connection(str(test.pk))
    again = client.post(NEW, form_values(kubeconfig="", tested=str(test.pk)))
    assert again.status_code == 422
    assert WHY in again.content.decode()
    assert not Cluster.objects.exists()
    other = form_values(kubeconfig="", tested=str(test.pk), namespace_prefix="other-")
    assert client.post(NEW, other).status_code == 302
    assert Cluster.objects.get().settings_json["namespace_prefix"] == "other-"


def test_rest_refuses_what_the_last_test_found(fake: FakeEngine, admin: User) -> None:
    """New and changed connections alike."""
    call = Caller(admin)
    kept = reached(name="kept", namespace_prefix="other-")

    def tested() -> None:
        tasks.test_connection(call("POST", "/cluster-tests", BODY)[1]["id"])

    tested()
    for method, path in (("POST", "/clusters"), ("PUT", f"/clusters/{kept.pk}")):
        status, answer = call(method, path, BODY | {"name": "gpu"})
        issue = answer["complianceIssues"][0]
        assert (status, issue["field"], issue["details"]) == (400, "namespacePrefix", WHY)
    kept.refresh_from_db()
    assert (kept.name, kept.settings_json["namespace_prefix"]) == ("kept", "other-")
    fake.findings = []
    tested()
    assert call("POST", "/clusters", BODY | {"name": "gpu"})[0] == 201


def test_the_prefix_of_a_refused_cluster_can_change_though_it_has_projects(
    fake: FakeEngine, admin: User
) -> None:
    """It has no namespaces that would keep the old one."""
    cluster = reached()
    ProjectFactory(cluster=cluster)
    change = {"namespacePrefix": "other-"}
    assert Caller(admin)("PUT", f"/clusters/{cluster.pk}", change)[0] == 400
    looked_at(cluster, fake)
    assert Caller(admin)("PUT", f"/clusters/{cluster.pk}", change)[0] == 200


def test_add_cluster_adds_no_refused_one(fake: FakeEngine, tmp_path: Path) -> None:
    (file := tmp_path / "config").write_text(kubeconfig())
    with pytest.raises(CommandError, match=r"in use\. Choose another one\. Nothing was added"):
        call_command("add_cluster", "gpu", kubeconfig=file)
    assert not Cluster.objects.exists()
