"""What the wizard offers of a real cluster, with the rights of the manifest and without one."""

from collections.abc import Iterator

import pytest

from clusters import services
from clusters.models import Cluster, State
from engines.kubernetes.client.api import Api
from projects.models import Project
from tests.account import SPACE, Account
from tests.clusters.kubernetes.conftest import PREFIX
from tests.factories import ProjectFactory, UserFactory
from tests.waiting import wait_for
from workloads.wizard.choices.offers import Offer

pytestmark = pytest.mark.kubernetes
NAMED = f"{PREFIX}offers"


@pytest.fixture
def project(cluster: Cluster, api: Api) -> Iterator[Project]:
    """Its namespace has a ConfigMap of somebody's."""
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMED}}
    api.apply(f"{SPACE}/{NAMED}", space)
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}
    api.apply(f"{SPACE}/{NAMED}/configmaps/settings", settings | {"data": {"lr": "0.1"}})
    yield ProjectFactory(name="offers", cluster=cluster)
    api.delete(f"{SPACE}/{NAMED}")


def offered(project: Project) -> list[str] | None:
    services.refresh(project.cluster)
    project.cluster.refresh_from_db()
    return Offer(project.cluster, project, by=UserFactory()).config_maps


def test_config_maps_of_the_namespace_are_offered_with_the_manifests_rights(
    project: Project, account: Account
) -> None:
    wait_for(lambda: "settings" in (offered(project) or ()), 15, "the rights to hold")
    assert "lr" not in str(project.cluster.capabilities_json["config_maps"])
    account.without("configmaps", "list")
    wait_for(lambda: offered(project) is None, 15, "the right to be gone")
    assert project.cluster.state in {State.CONNECTED, State.ISSUES}, "a choice less, and no more"
