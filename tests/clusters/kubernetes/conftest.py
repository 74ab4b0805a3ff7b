"""A cluster of Trainyard on a real API server, with an account that has exactly the permissions a
test gives it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from clusters import connections
from clusters.kinds.kubernetes.settings import KubernetesSettings
from clusters.models import Cluster
from engines.kubernetes.client.api import Api
from engines.kubernetes.client.connect import connect
from tests.account import Account
from tests.clusters.kubeconfigs import connect as connect_by
from tests.relay import Relay

# Its own, because another Trainyard of the tests may have marked namespaces with the usual prefix.
PREFIX = "trainyard-real-"
KUBECONFIG = os.environ.get("KUBECONFIG", "")


@pytest.fixture
def api() -> Api:
    if not KUBECONFIG:
        pytest.skip("KUBECONFIG names no cluster; see docs/kubernetes.md")
    return connect(Path(KUBECONFIG).read_text())


@pytest.fixture
def account(api: Api) -> Iterator[Account]:
    made = Account(api)
    yield made
    made.remove()


@pytest.fixture
def relay(api: Api) -> Iterator[Relay]:
    address = urlsplit(api.address)
    made = Relay((str(address.hostname), address.port or 443))
    yield made
    made.close()


def kubeconfig(port: int, token: str) -> str:
    """Return a kubeconfig of the same cluster behind another port of this machine, with another
    token."""
    document: dict[str, Any] = yaml.safe_load(Path(KUBECONFIG).read_text())
    context = next(
        item["context"]
        for item in document["contexts"]
        if item["name"] == document["current-context"]
    )
    for item in document["clusters"]:
        if item["name"] == context["cluster"]:
            host = urlsplit(item["cluster"]["server"]).hostname
            item["cluster"] |= {"server": f"https://127.0.0.1:{port}", "tls-server-name": host}
    context["user"] = "trainyard"
    document["users"] = [{"name": "trainyard", "user": {"token": token}}]
    return yaml.safe_dump(document)


@pytest.fixture
def cluster(db: None, account: Account, relay: Relay) -> Iterator[Cluster]:
    settings = KubernetesSettings(namespace_prefix=PREFIX).model_dump()
    made = Cluster.objects.create(name="real", kind="kubernetes", settings_json=settings)
    connect_by(made, kubeconfig(relay.port, account.token()))
    yield made
    connections._engines.pop(made.pk, None)
