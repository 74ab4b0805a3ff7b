"""Clusters: who sees them, what they have, and that virtual GPUs are called so."""

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from clusters.models import State
from tests.factories import ClusterFactory, ProjectFactory, UserFactory, WorkloadFactory
from tests.web import HTMX, signed_in

pytestmark = pytest.mark.django_db


def test_the_pages_of_clusters_ask_for_signing_in(client: Client) -> None:
    for page in ("", f"{ClusterFactory().pk}/"):
        assert client.get(f"/clusters/{page}")["Location"].startswith("/accounts/login/")


def test_members_see_the_cluster_of_their_project() -> None:
    user = UserFactory()
    mine = ProjectFactory(members=[user]).cluster
    other = ClusterFactory()
    client = signed_in(user)
    page = client.get("/clusters/").content.decode()
    assert f"/clusters/{mine.pk}/" in page
    assert f"/clusters/{other.pk}/" not in page
    assert client.get(f"/clusters/{mine.pk}/").status_code == 200
    assert client.get(f"/clusters/{other.pk}/").status_code == 404
    assert "No cluster" in signed_in(UserFactory()).get("/clusters/").content.decode()


def test_the_page_shows_nodes_frameworks_and_what_is_held() -> None:
    cluster = ClusterFactory(state=State.ISSUES, state_message="The operator restarts.")
    WorkloadFactory(running=True, project__cluster=cluster)
    WorkloadFactory(completed=True, project__cluster=cluster)
    client = signed_in(UserFactory(administrator=True))
    page = client.get(f"/clusters/{cluster.pk}/").content.decode()
    assert cluster.nodes.get().name in page
    assert "4 × Virtual GPU, 16 GB" in page
    assert "accounting units" in page
    assert "0.3 of 4" in page
    assert "TensorFlow" in page
    assert "The operator restarts." in page
    assert "<html" not in client.get(f"/clusters/{cluster.pk}/", **HTMX).content.decode()


def test_the_page_lists_what_holds_something_and_where() -> None:
    mine = WorkloadFactory(running=True, project__members=[user := UserFactory()])
    mine.ranks.update(node="node-1", gpu_devices=[1])
    mine.ranks.filter(rank=2).update(gpu_devices=[3])
    foreign = WorkloadFactory(running=True, project__cluster=mine.cluster, name="of-others")
    done = WorkloadFactory(completed=True, project__cluster=mine.cluster)
    address = f"/clusters/{mine.cluster.pk}/"
    page = signed_in(user).get(address).content.decode()
    assert mine.get_absolute_url() in page
    assert "node-1, GPUs 1 and 3" in page
    assert foreign.name not in page
    assert "1 more workload that is not listed holds something here." in " ".join(page.split())
    page = signed_in(UserFactory(administrator=True)).get(address).content.decode()
    assert foreign.get_absolute_url() in page
    assert done.get_absolute_url() not in page
    assert "not listed" not in page


def test_a_cluster_that_nobody_asked_yet_has_a_page() -> None:
    cluster = ClusterFactory(nodes=0, capabilities_json={}, checked_at=None, state=State.WAITING)
    page = signed_in(UserFactory(administrator=True)).get(f"/clusters/{cluster.pk}/")
    assert "No nodes reported yet." in page.content.decode()
    assert "accounting units" not in page.content.decode()


def test_the_list_of_clusters_takes_a_fixed_number_of_queries(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    client = signed_in(UserFactory(administrator=True))
    ClusterFactory.create_batch(10)
    with django_assert_max_num_queries(7):
        client.get("/clusters/")
