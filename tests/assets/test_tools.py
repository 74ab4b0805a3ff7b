"""How a tool is reached: what the environment's form offers, and what a new tool begins with."""

import re

import pytest
from pytest_django import Settings

from clusters.models import Cluster
from tests.assets import posts
from tests.clusters.kubeconfigs import reached
from tests.factories import ClusterFactory, EnvironmentFactory, ProjectFactory, UserFactory
from tests.web import signed_in

pytestmark = pytest.mark.django_db
NOT_OFFERED = "External URL is not offered"


def choices(page: str, row: str, cell: str = "connection_type") -> tuple[list[str], str]:
    """What a row offers, the connection types for one, and the one that is chosen."""
    found = re.search(rf'<select name="tools-{row}-{cell}".*?</select>', page, re.DOTALL)
    assert found
    options = re.findall(r'<option value="(\w+)"( selected)?', found[0])
    return [value for value, _ in options], next((it for it, chosen in options if chosen), "")


def new_environment(cluster: Cluster) -> str:
    user = UserFactory()
    ProjectFactory(cluster=cluster, members=[user])
    return str(signed_in(user).get("/environments/new/").content.decode())


def test_a_cluster_without_a_domain_offers_no_url_and_says_why() -> None:
    cluster = ClusterFactory(kind="kubernetes", name="gpu")
    page = new_environment(cluster)
    offered, chosen = choices(page, "__prefix__")
    assert (chosen, "ExternalUrl" in offered) == ("ClusterIP", False)
    assert f"{NOT_OFFERED}: on gpu, the cluster has no domain" in page
    assert choices(page, "__prefix__", "access")[1] == "", "who sees the workload"


def test_a_cluster_with_a_domain_suggests_a_url_for_authenticated_users(
    settings: Settings,
) -> None:
    settings.PUBLIC_URL = "https://trainyard.example.com"
    page = new_environment(reached(ingress_domain="apps.example.com"))
    assert choices(page, "__prefix__")[1] == "ExternalUrl"
    assert choices(page, "__prefix__", "access")[1] == "authenticatedUsers"
    assert NOT_OFFERED not in page


def test_the_requested_cluster_decides_which_connections_of_tools_are_offered(
    settings: Settings,
) -> None:
    settings.PUBLIC_URL = "https://trainyard.example.com"
    user = UserFactory()
    without = ClusterFactory(kind="kubernetes", name="gpu")
    plain = ProjectFactory(cluster=without, members=[user])
    domain = reached(ingress_domain="apps.example.com")
    ProjectFactory(cluster=domain, members=[user])
    page = signed_in(user).get(f"/environments/new/?project={plain.pk}").content.decode()
    offered, chosen = choices(page, "__prefix__")
    assert (chosen, "ExternalUrl" in offered) == ("ClusterIP", True)
    assert "External URL does not work everywhere: on gpu, the cluster has no domain" in page


def test_an_environment_keeps_the_url_that_it_has() -> None:
    user = UserFactory(administrator=True)
    project = ProjectFactory(cluster=ClusterFactory(kind="kubernetes"))
    tool = {"name": "Board", "toolType": "tensorboard", "containerPort": 6006}
    made = EnvironmentFactory(home=project, spec_json={"image": "img:1", "connections": [tool]})
    client = signed_in(user)
    address = f"/environments/{made.pk}/edit/"
    assert choices(client.get(address).content.decode(), "0")[1] == "ExternalUrl"
    row = {"tool_type": "tensorboard", "name": "Board", "container_port": "6006"}
    row["connection_type"] = "ExternalUrl"
    post = posts.environment(project, **posts.rows("tools", row)) | {"tools-INITIAL_FORMS": 1}
    assert client.post(address, post).status_code == 302
    made.refresh_from_db()
    assert made.spec.connections[0].connection_type == "ExternalUrl"
