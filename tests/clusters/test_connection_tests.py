"""Test connection: a worker looks, the page shows, and nobody else reads the kubeconfig."""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from clusters import connection_tests, tasks
from clusters.models import Cluster, ConnectionTest, State
from engines.base import EngineUnavailable
from engines.fake import FakeEngine
from engines.findings import Finding, Level
from tests.clusters.answering import answers
from tests.clusters.kubeconfigs import NEW, SECRET, kubeconfig, kubeconfig_of, reached
from tests.clusters.kubeconfigs import form_values as values
from tests.factories import UserFactory
from tests.web import HTMX, signed_in

pytestmark = pytest.mark.django_db
REFUSED = Finding("Permissions", "secrets", Level.MISSING, "create: not allowed.")
WHO = Finding("Connection", "Signed in as", Level.OK, "system:serviceaccount:ml:runner")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    found = FakeEngine(findings=[WHO, REFUSED], queues=True)
    answers(monkeypatch, "kubernetes", lambda cluster: found)
    return found


@pytest.fixture
def sent(sent: list[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    yield sent
    assert SECRET not in str(sent)


@pytest.fixture
def client() -> Client:
    return signed_in(UserFactory(administrator=True))


@pytest.fixture
def kept() -> Cluster:
    return reached(state=State.WAITING)


def test_a_form_is_tested_before_it_is_saved(
    client: Client, fake: FakeEngine, sent: list[tuple[Any, ...]]
) -> None:
    answer = client.post(NEW, values(action="test", name="gpu"))
    test = ConnectionTest.objects.get()
    assert answer["Location"] == f"{NEW}?kind=kubernetes&test={test.pk}#test"
    assert [told[1] for told in sent] == [test.pk]
    waiting = client.get(answer["Location"]).content.decode()
    assert "Testing the connection." in waiting
    assert 'value="gpu"' in waiting
    tasks.test_connection(str(test.pk))
    shown = client.get(answer["Location"]).content.decode()
    assert "create: not allowed." in shown
    assert "name: runner" in shown  # the subject of the binding
    assert SECRET not in waiting + shown
    client.post(NEW, values(kubeconfig="", tested=str(test.pk)))
    assert kubeconfig_of(Cluster.objects.get()) == kubeconfig()
    assert not ConnectionTest.objects.exists()


def test_the_database_holds_the_kubeconfig_of_a_connection_test_encrypted(
    client: Client, sent: list[tuple[Any, ...]]
) -> None:
    client.post(NEW, values(action="test"))
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM clusters_connectiontest")
        assert SECRET not in str(cursor.fetchall())


def test_a_cluster_that_is_away_says_so(
    client: Client, fake: FakeEngine, sent: list[tuple[Any, ...]]
) -> None:
    fake.raises = EngineUnavailable("The API server does not answer: refused.")
    client.post(NEW, values(action="test", way="in_cluster"))
    test = ConnectionTest.objects.get()
    tasks.test_connection(str(test.pk))
    page = client.get(f"/clusters/tests/{test.pk}/").content.decode()
    assert "No connection to the cluster" in page
    assert "The API server does not answer" in page
    assert "is missing" not in page


def test_a_kept_cluster_is_tested_with_what_is_kept(
    client: Client, fake: FakeEngine, kept: Cluster, sent: list[tuple[Any, ...]]
) -> None:
    part = client.post(f"/clusters/{kept.pk}/test/", **HTMX).content.decode()
    test = ConnectionTest.objects.get()
    assert f"/clusters/tests/{test.pk}/" in part
    assert 'hx-trigger="every 1s"' in part
    tasks.test_connection(str(test.pk))
    tasks.test_connection(str(test.pk))  # twice is once
    tasks.test_connection("5e0d7b0c-31d1-4f3e-8a65-1e6a0c0a2c11")  # gone meanwhile
    kept.refresh_from_db()
    assert kept.state == State.MISSING
    assert kept.state_message.startswith("secrets: create: not allowed.")
    part = client.get(f"/clusters/tests/{test.pk}/", **HTMX).content.decode()
    assert "every 1s" not in part
    page = client.get(f"/clusters/{kept.pk}/connection/").content.decode()
    assert "create: not allowed." in page
    assert "ClusterRoleBinding" in page


@pytest.mark.parametrize(
    ("level", "title"),
    [
        (Level.ISSUE, "Something is not working on this cluster"),
        (Level.MISSING, "Something Trainyard needs is missing"),
    ],
)
def test_the_page_of_a_connection_separates_missing_parts_from_issues(
    client: Client, kept: Cluster, level: Level, title: str
) -> None:
    rows = [WHO, Finding("Frameworks", "PyTorch", level, "Its webhook does not answer.")]
    kept.findings_json = [asdict(row) for row in rows]
    kept.save()
    assert title in client.get(f"/clusters/{kept.pk}/connection/").content.decode()


def test_the_result_of_a_connection_test_without_htmx_is_a_page(
    client: Client, kept: Cluster, sent: list[tuple[Any, ...]]
) -> None:
    answer = client.post(f"/clusters/{kept.pk}/test/")
    assert "Test connection" in client.get(answer["Location"]).content.decode()


def test_a_test_is_its_askers(kept: Cluster, sent: list[tuple[Any, ...]]) -> None:
    test = connection_tests.request_test(by=UserFactory(administrator=True), cluster=kept)
    other = signed_in(UserFactory(administrator=True))
    assert other.get(f"/clusters/tests/{test.pk}/").status_code == 404


def test_a_test_that_no_worker_took_says_so(
    client: Client, kept: Cluster, sent: list[tuple[Any, ...]]
) -> None:
    address = client.post(f"/clusters/{kept.pk}/test/")["Location"]
    ConnectionTest.objects.update(created_at=timezone.now() - timedelta(minutes=2))
    page = client.get(address, **HTMX).content.decode()
    assert "No worker picked up the test" in page
    assert "every 1s" not in page


def test_old_connection_tests_are_deleted_with_their_kubeconfigs(
    kept: Cluster, sent: list[tuple[Any, ...]]
) -> None:
    connection_tests.request_test(by=UserFactory(administrator=True), cluster=kept)
    ConnectionTest.objects.update(created_at=timezone.now() - timedelta(hours=2))
    connection_tests.prune()
    assert not ConnectionTest.objects.exists()


def test_the_manifest_is_a_download(client: Client) -> None:
    answer = client.get("/clusters/rights.yaml?user=ada")
    assert "trainyard-rights.yaml" in answer["Content-Disposition"]
    assert "name: ada" in answer.content.decode()
    assert "kind: ServiceAccount" in client.get("/clusters/rights.yaml").content.decode()
