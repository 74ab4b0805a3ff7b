"""A launch is compared with the limits of the cluster's partitions before it is submitted."""

from dataclasses import asdict

import pytest

from clusters.connections import complaints
from clusters.models import Cluster
from engines.base import Capabilities
from engines.partitions import BillingAccount, NodeShape, Partition
from spec.problems.errors import path_text
from tests.engines.contract import launch
from tests.factories import ProjectFactory, UserFactory
from tests.web import signed_in

pytestmark = pytest.mark.django_db
TINY = Partition("tiny", max_seconds=300, nodes=(NodeShape(4, 2, 4000, 0),))


def test_the_partition_of_the_cluster_bounds_its_workloads() -> None:
    offer = Capabilities((), queues=True, partitions=(TINY,))
    cluster = Cluster.objects.create(
        name="hpc",
        kind="slurm",
        settings_json={"directory": "/shared", "partition": "tiny"},
        capabilities_json=asdict(offer),
    )
    launched = launch("true", num_workers=9, time_limit_seconds=301)
    places = [path_text(it.path) for it in complaints(cluster, launched.handle, launched.spec)]
    assert places == ["timeLimitSeconds", "numWorkers"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "6 GPUs at once (account vision)"),
        ({"account": "speech"}, "None (account speech)"),
        ({"account": "other"}, "Account other, whose limits Slurm does not show"),
        ({"host": "login", "run_as": "people"}, "Those of each person&#x27;s default account"),
    ],
)
def test_the_page_of_a_project_shows_what_slurm_lets_it_use(
    settings: dict[str, str], said: str
) -> None:
    accounts = (
        BillingAccount("vision", "6 GPUs at once", is_default=True),
        BillingAccount("speech"),
    )
    offer = Capabilities((), queues=True, accounts=accounts)
    admin = UserFactory(administrator=True)
    project = ProjectFactory()
    cluster = project.cluster
    cluster.kind = "slurm"
    cluster.settings_json = {"directory": "/shared", **settings}
    cluster.capabilities_json = asdict(offer)
    cluster.save()
    page = signed_in(admin).get(project.get_absolute_url()).content.decode()
    assert "Limits of Slurm" in page
    assert said in page
