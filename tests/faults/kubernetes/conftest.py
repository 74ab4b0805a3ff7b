"""The product with a real cluster behind a proxy. All tests here share it, and each leaves it
empty."""

from collections.abc import Iterator

import pytest

from tests.cluster import RealCluster
from tests.faults.kubernetes.site import CLUSTER, NAMESPACE, PROJECT, Site
from tests.product import Trainyard
from tests.proxy import ApiProxy
from tests.rest import Rest


@pytest.fixture(scope="session")
def proxy(real_cluster: RealCluster) -> Iterator[ApiProxy]:
    proxy = ApiProxy(real_cluster.kubeconfig)
    yield proxy
    proxy.close()


@pytest.fixture(scope="session")
def joined(
    real_cluster: RealCluster,
    proxy: ApiProxy,
    running_trainyard: Trainyard,
    tmp_path_factory: pytest.TempPathFactory,
) -> Trainyard:
    """The product, with the cluster and a project on it."""
    real_cluster.wipe(NAMESPACE)
    kubeconfig = proxy.kubeconfig(tmp_path_factory.mktemp("proxy"))
    real_cluster.join(running_trainyard, CLUSTER, PROJECT, kubeconfig)
    return running_trainyard


@pytest.fixture
def site(joined: Trainyard, real_cluster: RealCluster, proxy: ApiProxy) -> Iterator[Site]:
    """The project on the cluster, connected. Its workloads are deleted afterwards."""
    with Rest(joined, PROJECT) as rest:
        found = Site(joined, real_cluster, proxy, rest)
        found.connects()
        yield found
        found.clean()
