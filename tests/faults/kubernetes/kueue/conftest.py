"""The product on a cluster with Kueue, whose jobs all go through one queue."""

from collections.abc import Iterator

import pytest

from tests.cluster import RealCluster
from tests.engines.kubernetes.kueue.real_queue import Queue, create_priorities
from tests.faults.kubernetes.site import NAMESPACE, Site


@pytest.fixture(scope="session")
def real_cluster(real_cluster: RealCluster) -> RealCluster:
    """The cluster, with priorities before the product first looks for them."""
    create_priorities(real_cluster.api)
    return real_cluster


@pytest.fixture
def queue(site: Site) -> Iterator[Queue]:
    """A queue that takes every job of the project, not open yet."""
    api = site.cluster.api
    found = Queue.in_namespace(api, NAMESPACE)
    site.proxy.writes.clear()
    yield found
    found.hold("None")
    site.clean()
    found.close()
