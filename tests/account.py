"""An account on a real cluster that may do exactly what the manifest of permissions says."""

from typing import Any
from uuid import uuid4

import yaml

from engines.kubernetes.client.api import Api
from engines.kubernetes.cluster import rbac

ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
SPACE = "/api/v1/namespaces"
LASTING = {"expirationSeconds": 7200}  # seconds: longer than any run of the tests


class Account:
    """A service account in a namespace of its own, with the role in the manifest of permissions."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self.name = f"trainyard-test-{uuid4().hex[:8]}"
        self.user = f"system:serviceaccount:{self.name}:{self.name}"
        meta = {"metadata": {"name": self.name}}
        api.create(SPACE, {"apiVersion": "v1", "kind": "Namespace", **meta})
        self._accounts = f"{SPACE}/{self.name}/serviceaccounts"
        api.create(self._accounts, {"apiVersion": "v1", "kind": "ServiceAccount", **meta})
        role, binding = yaml.safe_load_all(rbac.render_manifest(self.user))
        role["metadata"] = binding["metadata"] = {"name": self.name}
        binding["roleRef"]["name"] = self.name
        self._role = role
        api.create(ROLES, role)
        api.create(BINDINGS, binding)

    def token(self) -> str:
        """Return a new token of the account."""
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": LASTING,
        }
        made = self._api.create(f"{self._accounts}/{self.name}/token", request)
        return str(made["status"]["token"])

    def kubeconfig(self, text: str) -> str:
        """Return the kubeconfig ``text`` with this account as its user."""
        document: dict[str, Any] = yaml.safe_load(text)
        for context in document["contexts"]:
            context["context"]["user"] = self.name
        document["users"] = [{"name": self.name, "user": {"token": self.token()}}]
        return yaml.safe_dump(document)

    def without(self, resource: str = "", *verbs: str) -> None:
        """Give the account the role in the manifest, without these verbs on a resource. Without
        arguments, it gets the whole role back."""
        rules = []
        for rule in self._role["rules"]:
            left = [v for v in rule["verbs"] if not (resource in rule["resources"] and v in verbs)]
            rules += [{**rule, "verbs": left}] if left else []
        self._api.merge(f"{ROLES}/{self.name}", {"rules": rules})

    def remove(self) -> None:
        """Delete the account with its role and its namespace."""
        for path in (f"{BINDINGS}/{self.name}", f"{ROLES}/{self.name}", f"{SPACE}/{self.name}"):
            self._api.delete(path)
