"""REST: clusters, which administrators keep and others only read."""

from typing import Any

import pytest
from django.test import Client
from pydantic.alias_generators import to_camel

from accounts.models import AccessRule
from clusters import tasks
from clusters.models import Cluster, Connection, ConnectionTest, State
from core.broker import enqueue
from engines.fake import FakeEngine
from engines.findings import Finding, Level
from projects.models import Project
from tests.caller import Caller
from tests.clusters.answering import answers
from tests.clusters.kubeconfigs import SECRET, kubeconfig, kubeconfig_of, reached
from tests.factories import ClusterFactory, ProjectFactory, UserFactory
from tests.web import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]
URL = {"ingressDomain": "apps.example.com", "prometheusUrl": "http://prometheus.example.com"}
WHO = Finding("Connection", "Signed in as", Level.OK, "system:serviceaccount:ml:runner")
REFUSED = Finding("Permissions", "secrets", Level.MISSING, "create: not allowed.")


@pytest.fixture
def admin() -> Caller:
    return Caller(UserFactory(administrator=True))


@pytest.fixture
def kept() -> Cluster:
    return reached(name="kept")


def new(**also: Any) -> dict[str, Any]:
    return {"name": "gpu", "kubeconfig": kubeconfig()} | also


def fields(answer: dict[str, Any]) -> list[str]:
    return [issue["field"] for issue in answer["complianceIssues"]]


def test_a_cluster_is_added_and_looked_at(admin: Caller, sent: list[tuple[Any, ...]]) -> None:
    status, made = admin("POST", "/clusters", new(**URL))
    cluster = Cluster.objects.get()
    assert (status, made["uuid"], made["status"]["state"]) == (201, str(cluster.pk), State.WAITING)
    blank = {"ingressClass": "", "partialGangSeconds": ""}
    assert made["settings"] == {"namespacePrefix": "trainyard-", **blank, **URL}
    assert kubeconfig_of(cluster) == kubeconfig().strip()
    assert ("clusters.look", cluster.pk, enqueue.SUBMIT) in sent
    assert SECRET not in str([made, admin("GET", "/clusters"), sent])
    assert admin("POST", "/clusters", {"name": "here", "inCluster": True})[0] == 201
    assert kubeconfig_of(Cluster.objects.get(name="here")) == ""


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"kubeconfig": ""}, "kubeconfig"),
        ({"inCluster": True}, "kubeconfig"),
        ({"kubeconfig": f"{SECRET}: [\nb"}, "kubeconfig"),
        ({"kubeconfig": {"users": SECRET}}, "kubeconfig"),
        ({"kubeconfig": SECRET * 50_000}, "kubeconfig"),
        ({"namespacePrefix": "Loud"}, "namespacePrefix"),
        ({"prometheusUrl": "nowhere"}, "prometheusUrl"),
        ({"name": "kept"}, "name"),
        ({"kubeConfig": SECRET}, "kubeConfig"),
    ],
)
def test_creating_a_cluster_by_rest_names_what_is_wrong(
    admin: Caller, kept: Cluster, change: dict[str, Any], field: str
) -> None:
    status, answer = admin("POST", "/clusters", new(**change))
    assert (status, fields(answer)) == (409 if change == {"name": "kept"} else 400, [field])
    assert SECRET not in str(answer)
    assert Cluster.objects.count() == 1


def test_a_kubeconfig_that_acts_here_has_to_be_trusted(admin: Caller) -> None:
    acting = kubeconfig(exec={"command": "aws"})
    status, answer = admin("POST", "/clusters", new(kubeconfig=acting))
    assert (status, fields(answer)) == (400, ["trusted"])
    assert "runs the program aws" in answer["details"]
    assert admin("POST", "/clusters", new(kubeconfig=acting, trusted=True))[0] == 201


def test_a_cluster_updated_by_rest_changes_only_in_what_is_given(
    admin: Caller, kept: Cluster, sent: list[tuple[Any, ...]]
) -> None:
    path = f"/clusters/{kept.pk}"
    status, answer = admin("PUT", path, {"name": "renamed", "ingressClass": "nginx"})
    assert (status, answer["name"], answer["settings"]["ingressClass"]) == (200, "renamed", "nginx")
    assert answer["status"]["state"] == State.CONNECTED
    assert not sent
    status, answer = admin("PUT", path, {"kubeconfig": kubeconfig(token="t0ken")})
    assert (answer["name"], answer["status"]["state"]) == ("renamed", State.WAITING)
    assert answer["checkedAt"] is None
    assert [told[:2] for told in sent] == [("clusters.look", kept.pk)]
    assert "t0ken" in kubeconfig_of(Cluster.objects.get())
    assert "t0ken" not in str(answer)
    ProjectFactory(cluster=kept)
    status, answer = admin("PUT", path, {"namespacePrefix": "other-"})
    assert (status, fields(answer)) == (400, ["namespacePrefix"])
    assert admin("PUT", path, {"inCluster": True})[0] == 200
    assert kubeconfig_of(Cluster.objects.get()) == ""
    assert admin("PUT", f"/clusters/{ClusterFactory().pk}", {"name": "x"})[0] == 409


def test_a_cluster_goes_once_its_projects_have(admin: Caller, kept: Cluster) -> None:
    project = ProjectFactory(cluster=kept, name="vision")
    status, answer = admin("DELETE", f"/clusters/{kept.pk}")
    assert status == 409
    assert "vision" in answer["message"]
    project.delete()
    assert admin("DELETE", f"/clusters/{kept.pk}")[0] == 204
    assert admin("DELETE", f"/clusters/{kept.pk}")[0] == 404
    assert not Connection.objects.exists()


@pytest.mark.parametrize("as_kept", [True, False])
def test_a_test_says_right_by_right_what_lacks(
    admin: Caller,
    kept: Cluster,
    monkeypatch: pytest.MonkeyPatch,
    sent: list[tuple[Any, ...]],
    as_kept: bool,
) -> None:
    fake = FakeEngine(findings=[WHO, REFUSED], queues=True)
    answers(monkeypatch, "kubernetes", lambda cluster: fake)
    body = {"clusterId": str(kept.pk)} if as_kept else {"kubeconfig": kubeconfig()}
    status, asked = admin("POST", "/cluster-tests", body)
    assert (status, asked["answeredAt"], asked["findings"]) == (202, None, [])
    assert "A worker is testing" in asked["message"]
    assert [str(told[1]) for told in sent] == [asked["id"]]
    tasks.test_connection(asked["id"])
    status, found = admin("GET", f"/cluster-tests/{asked['id']}")
    refused = {"area": "Permissions", "name": "secrets", "level": "missing"}
    assert found["findings"][1] == refused | {"text": "create: not allowed."}
    assert "name: runner" in found["manifest"]
    assert SECRET not in str([asked, found])
    other = Caller(UserFactory(administrator=True))
    assert other("GET", f"/cluster-tests/{asked['id']}")[0] == 404
    AccessRule.objects.filter(user=admin.user).delete()
    assert admin("GET", f"/cluster-tests/{asked['id']}")[0] == 403


def test_members_read_their_clusters_by_rest_and_change_nothing(
    call: Caller, stranger: Caller, kept: Cluster
) -> None:
    ProjectFactory(cluster=kept, members=[call.user])
    path = f"/clusters/{kept.pk}"
    test = {"clusterId": str(kept.pk)}
    status, seen = call("GET", path)
    assert (status, seen["name"], seen["settings"]) == (200, "kept", None)
    for caller, known in ((call, 403), (stranger, 404)):
        assert caller("PUT", path, {"name": "mine"})[0] == known
        assert caller("DELETE", path)[0] == known
        assert caller("POST", "/clusters", new(kubeconfig="?"))[0] == 403
        assert caller("POST", "/cluster-tests", test)[0] == 403
    assert stranger("GET", path)[0] == 404
    assert stranger("GET", "/clusters")[1] == []
    assert Cluster.objects.get().name == "kept"
    assert not ConnectionTest.objects.exists()


def test_the_description_says_what_each_call_does(db: None) -> None:
    document = Client().get("/api/v1/openapi.json").json()
    paths = document["paths"]
    body = document["components"]["schemas"]["ClusterIn"]
    assert {"name", "kind", "kubeconfig", "inCluster", "prometheusUrl"} <= set(body["properties"])
    assert body["additionalProperties"] is False
    ours = {path: item for path, item in paths.items() if "/cluster" in path}
    assert {"/api/v1/clusters", "/api/v1/cluster-tests"} <= set(ours)
    assert "never returned" in ours["/api/v1/clusters"]["post"]["description"]


def test_clusters_are_those_of_ones_projects(
    call: Caller, stranger: Caller, project: Project
) -> None:
    _, clusters = call("GET", "/clusters")
    assert [cluster["uuid"] for cluster in clusters] == [str(project.cluster_id)]
    assert stranger("GET", "/clusters")[1] == []
    assert stranger("GET", f"/clusters/{project.cluster_id}")[0] == 404


def test_rest_reports_all_errors_of_a_new_cluster_at_once(admin: Caller, kept: Cluster) -> None:
    wrong = {"name": "", "kubeconfig": "a: b", "namespacePrefix": "Loud", "ingressDomain": "*.x"}
    status, answer = admin("POST", "/clusters", wrong)
    assert status == 400
    told = {it["field"]: it["details"] for it in answer["complianceIssues"]}
    assert set(told) == set(wrong)
    posted = {"kubeconfig": "a: b", "namespace_prefix": "Loud", "ingress_domain": "*.x", "name": ""}
    page = signed_in(admin.user).post(
        "/clusters/new/", {"way": "kubeconfig", "action": "save"} | posted
    )
    shown = {to_camel(name): texts for name, texts in page.context["form"].errors.items()}
    told |= {"name": "Cluster name is required."}  # a page's text names the field
    assert shown == {name: [text] for name, text in told.items()}
