"""A cluster of Trainyard on a real API server: a user with exactly the rights that a test gives."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
import yaml

from clusters import engines
from clusters.models import Cluster, Connection, Kind
from engines.kubernetes import rights
from engines.kubernetes.api import Api
from engines.kubernetes.connecting import connect
from tests.relay import Relay

KUBECONFIG = os.environ.get("KUBECONFIG", "")
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
SPACE = "/api/v1/namespaces"


@pytest.fixture
def api() -> Api:
    if not KUBECONFIG:
        pytest.skip("KUBECONFIG names no cluster; see docs/kubernetes.md")
    return connect(Path(KUBECONFIG).read_text())


class Account:
    """A service account of a namespace of its own, with what the manifest of rights gives it."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self.name = f"trainyard-test-{uuid4().hex[:8]}"
        self.user = f"system:serviceaccount:{self.name}:{self.name}"
        meta = {"metadata": {"name": self.name}}
        api.create(SPACE, {"apiVersion": "v1", "kind": "Namespace", **meta})
        self._accounts = f"{SPACE}/{self.name}/serviceaccounts"
        api.create(self._accounts, {"apiVersion": "v1", "kind": "ServiceAccount", **meta})
        role, binding = yaml.safe_load_all(rights.manifest(self.user))
        role["metadata"] = binding["metadata"] = {"name": self.name}
        binding["roleRef"]["name"] = self.name
        self._role = role
        api.create(ROLES, role)
        api.create(BINDINGS, binding)

    def token(self) -> str:
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        made = self._api.create(f"{self._accounts}/{self.name}/token", request)
        return str(made["status"]["token"])

    def without(self, resource: str = "", *verbs: str) -> None:
        """The role as the manifest has it, but for these verbs; none: with everything."""
        rules = []
        for rule in self._role["rules"]:
            left = [v for v in rule["verbs"] if not (resource in rule["resources"] and v in verbs)]
            rules += [{**rule, "verbs": left}] if left else []
        self._api.merge(f"{ROLES}/{self.name}", {"rules": rules})

    def remove(self) -> None:
        for path in (f"{BINDINGS}/{self.name}", f"{ROLES}/{self.name}", f"{SPACE}/{self.name}"):
            self._api.delete(path)


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
    """The cluster of ``KUBECONFIG`` behind another port of this machine, for another user."""
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
    made = Cluster.objects.create(name="real", kind=Kind.KUBERNETES)
    Connection.objects.create(cluster=made, kubeconfig=kubeconfig(relay.port, account.token()))
    yield made
    engines._engines.pop(made.pk, None)
