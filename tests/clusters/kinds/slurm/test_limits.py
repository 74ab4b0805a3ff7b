"""What the cluster told of its partitions is held against a launch before it is submitted."""

from dataclasses import asdict

import pytest

from clusters.connections import complaints
from clusters.models import Cluster
from engines.base import Capabilities
from engines.partitions import NodeShape, Partition
from spec.problems.errors import place_of
from tests.engines.contract import launch

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
    places = [place_of(it.path) for it in complaints(cluster, launched.handle, launched.spec)]
    assert places == ["timeLimitSeconds", "numWorkers"]
