"""How many connections to an API server are kept. Nothing is asked of any."""

from typing import Any

import pytest
import yaml

from engines.base import EngineRefused
from engines.kubernetes.client.connect import CONNECTIONS, connect
from tests.clusters.kubeconfigs import kubeconfig


@pytest.mark.parametrize("streams", [0, 64])
def test_connections_of_all_streams_are_kept_beside_the_others(streams: int) -> None:
    """Of a pool that is too small each request more shakes hands anew, and leaves a warning."""
    api = connect(kubeconfig(), streams=streams)
    pools = api._client.rest_client.pool_manager
    assert pools.connection_from_url("https://127.0.0.1:1").pool.maxsize == CONNECTIONS + streams


@pytest.mark.parametrize("odd", [{"server": 5}, {"server": "https://a"}])
def test_a_kubeconfig_with_values_of_other_types_is_refused(odd: dict[str, Any]) -> None:
    document = yaml.safe_load(kubeconfig())
    document["clusters"][0]["cluster"] = {**odd, "certificate-authority-data": 5}
    with pytest.raises(EngineRefused, match=r"^The kubeconfig cannot be used: a value in it"):
        connect(yaml.safe_dump(document))
