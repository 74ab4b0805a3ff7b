"""A real cluster that comes, is tested and goes by REST."""

from typing import Any

import pytest

from clusters import connections, tasks
from clusters.models import Cluster, State
from tests.account import Account
from tests.caller import Caller
from tests.clusters.kubernetes.conftest import PREFIX, kubeconfig
from tests.factories import UserFactory
from tests.relay import Relay
from tests.waiting import wait_for

pytestmark = [pytest.mark.kubernetes, pytest.mark.django_db]


def test_a_cluster_by_rest_says_right_by_right_what_lacks(account: Account, relay: Relay) -> None:
    admin = Caller(UserFactory(administrator=True))
    account.without("pods/log", "get")
    given = {
        "kubeconfig": kubeconfig(relay.port, account.token()),
        "trusted": True,
        "namespacePrefix": PREFIX,
    }

    def tested(**about: Any) -> dict[str, dict[str, str]]:
        asked = admin("POST", "/cluster-tests", about)[1]
        tasks.test_connection(asked["id"])
        found = admin("GET", f"/cluster-tests/{asked['id']}")[1]
        assert account.name in found["manifest"]
        return {one["name"]: one for one in found["findings"]}

    def is_refused() -> bool:
        return "not allowed" in tested(**given)["pods/log"]["text"]

    wait_for(is_refused, 15, "the rights to be gone")
    path = f"/clusters/{admin('POST', '/clusters', {'name': 'real', **given})[1]['uuid']}"
    kept = Cluster.objects.get()
    tasks.look(str(kept.pk))
    assert admin("GET", path)[1]["status"]["state"] == State.MISSING
    found = tested(clusterId=str(kept.pk))
    assert found["pods/log"]["text"].startswith("get: not allowed")
    assert found["pods"]["level"] == "ok"
    assert admin("DELETE", path)[0] == 204
    connections._engines.pop(kept.pk)
