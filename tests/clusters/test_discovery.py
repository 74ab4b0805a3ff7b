"""A cluster is discovered and checked as soon as its connection changes."""

from typing import Any

import pytest

from clusters import connections, services, tasks
from clusters.kinds.kubernetes.settings import KubernetesSecret, KubernetesSettings
from clusters.models import Cluster, State
from core.broker import enqueue
from engines.base import EngineUnavailable
from engines.fake import FakeEngine
from engines.findings import Finding, Level
from tests.clusters.answering import answers
from tests.clusters.kubeconfigs import NEW, kubeconfig, reached
from tests.clusters.kubeconfigs import form_values as values
from tests.factories import UserFactory
from tests.web import HTMX, signed_in

pytestmark = pytest.mark.django_db
REFUSED = Finding("Permissions", "secrets", Level.MISSING, "create: not allowed.")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    found = FakeEngine(findings=[REFUSED], queues=True)
    answers(monkeypatch, "kubernetes", lambda cluster: found)
    return found


@pytest.fixture
def kept() -> Cluster:
    return reached(state=State.DISCONNECTED, state_message="gone")


def test_a_new_cluster_shows_what_lacks_at_once(
    fake: FakeEngine, sent: list[tuple[Any, ...]]
) -> None:
    client = signed_in(UserFactory(administrator=True))
    page = client.post(NEW, values())["Location"]
    assert [told[0] for told in sent] == ["clusters.look"]
    for shown in (page, f"{page}connection/", "/clusters/"):
        assert "every 2s" in client.get(shown).content.decode()
    tasks.look(str(sent[0][1]))
    assert "create: not allowed." in client.get(page, **HTMX).content.decode()
    part = client.get(f"{page}connection/", **HTMX).content.decode()
    assert "create: not allowed." in part
    assert "every 2s" not in part + client.get("/clusters/", **HTMX).content.decode()


def test_a_new_connection_is_checked_and_old_results_are_discarded(
    kept: Cluster, fake: FakeEngine, sent: list[tuple[Any, ...]]
) -> None:
    client = signed_in(UserFactory(administrator=True))
    page = f"/clusters/{kept.pk}/edit/"
    client.post(page, values(way="keep", name="other", kubeconfig=""))
    assert not sent
    client.post(page, values())
    kept.refresh_from_db()
    assert (kept.state, kept.state_message, kept.checked_at) == (State.WAITING, "", None)
    assert sent == [("clusters.look", kept.pk, enqueue.SUBMIT)]
    tasks.look(str(kept.pk))
    tasks.look(str(kept.pk))  # twice is once
    kept.refresh_from_db()
    assert (kept.state, kept.findings) == (State.MISSING, (REFUSED,))


@pytest.mark.parametrize("gone", [EngineUnavailable("It hangs."), None])
def test_a_look_that_began_by_the_old_connection_changes_nothing(
    kept: Cluster, fake: FakeEngine, gone: EngineUnavailable | None
) -> None:
    fake.raises = gone
    begun = Cluster.objects.get(pk=kept.pk)
    Cluster.objects.update(connection_version=1, state=State.WAITING)
    services.refresh(begun)
    kept.refresh_from_db()
    assert (kept.state, kept.findings, kept.capabilities.queues) == (State.WAITING, (), False)


def test_a_cluster_that_went_meanwhile_is_left_alone(kept: Cluster, fake: FakeEngine) -> None:
    begun = Cluster.objects.get(pk=kept.pk)
    connections.engine_for(begun)
    kept.delete()
    services.refresh(begun)
    tasks.look(str(begun.pk))
    assert not Cluster.objects.exists()


def test_two_concurrent_changes_get_two_versions_of_the_connection(
    kept: Cluster, sent: list[tuple[Any, ...]]
) -> None:
    """Both began before either was kept. A process that already uses the first takes the second."""
    admin = UserFactory(administrator=True)
    for cluster in [Cluster.objects.get(pk=kept.pk), Cluster.objects.get(pk=kept.pk)]:
        services.update(cluster, by=admin, secret=KubernetesSecret(kubeconfig=kubeconfig()))
    kept.refresh_from_db()
    assert kept.connection_version == 2
    assert len(sent) == 2


def test_an_update_of_a_cluster_keeps_concurrent_changes_of_other_fields(
    kept: Cluster,
) -> None:
    begun = Cluster.objects.get(pk=kept.pk)
    Cluster.objects.update(name="renamed")
    admin = UserFactory(administrator=True)
    services.update(begun, by=admin, secret=None, settings={"ingress_class": "nginx"})
    kept.refresh_from_db()
    assert kept.name == "renamed"
    assert kept.settings == KubernetesSettings(ingress_class="nginx")
