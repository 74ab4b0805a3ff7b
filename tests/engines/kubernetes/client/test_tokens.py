"""Tokens in files, which somebody renews before they end. A real API server, nodes or not."""

from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
import yaml
from kubernetes.client import Configuration
from kubernetes.config import incluster_config

from engines.base import EngineUnavailable
from engines.kubernetes.client.api import Api
from engines.kubernetes.client.connect import TokenFile, connect
from tests.cluster import KUBECONFIG
from tests.waiting import wait_for

SECRETS = "/api/v1/namespaces/default/secrets"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
ASKED = "/version"  # of everybody whose token is good


def token(settings: Configuration) -> str:
    return str(settings.api_key.get("BearerToken", ""))


def test_a_file_that_is_renewed_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "token"
    settings = Configuration()
    path.write_text("first\n")
    renew = TokenFile(path)
    renew(settings)
    assert token(settings) == "Bearer first"
    fresh = tmp_path / "fresh"
    fresh.write_text("other\n")
    fresh.replace(path)  # of the same length, and perhaps the same instant
    renew(settings)
    assert token(settings) == "Bearer other"


@pytest.mark.parametrize("content", [None, ""])
def test_a_file_that_is_away_or_empty_leaves_the_token(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "token"
    settings = Configuration()
    path.write_text("first")
    renew = TokenFile(path)
    renew(settings)
    path.unlink()
    if content is not None:
        path.write_text(content)
    renew(settings)
    assert token(settings) == "Bearer first"


@pytest.mark.parametrize(
    "other",
    [{"contexts": [{"name": "unfinished"}]}, {"users": [{"name": "nobody", "user": None}]}],
)
def test_entries_of_no_concern_may_be_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: dict[str, Any]
) -> None:
    (tmp_path / "token").write_text("first")
    ours: dict[str, Any] = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"tokenFile": str(tmp_path / "token")}}],
    }
    read: list[Path] = []
    monkeypatch.setattr(
        "engines.kubernetes.client.connect.TokenFile", lambda path: read.append(path)
    )
    connect(yaml.safe_dump(ours | {key: [*ours[key], *more] for key, more in other.items()}))
    assert read == [tmp_path / "token"]


class Account:
    """A service account and its tokens, each of which ends with a Secret of its own."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._name = f"trainyard-test-{uuid4().hex[:8]}"
        self._api.create(ACCOUNTS, self._object("ServiceAccount", self._name))

    def token(self, number: int) -> str:
        name = f"{self._name}-{number}"
        uid = self._api.create(SECRETS, self._object("Secret", name))["metadata"]["uid"]
        bound = {"apiVersion": "v1", "kind": "Secret", "name": name, "uid": uid}
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"boundObjectRef": bound, "expirationSeconds": 3600, "audiences": []},
        }
        made = self._api.create(f"{ACCOUNTS}/{self._name}/token", request)
        return str(made["status"]["token"])

    def revoke(self, number: int) -> None:
        self._api.delete(f"{SECRETS}/{self._name}-{number}")

    def remove(self) -> None:
        for number in (1, 2):
            self.revoke(number)
        self._api.delete(f"{ACCOUNTS}/{self._name}")

    def _object(self, kind: str, name: str) -> dict[str, Any]:
        return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}}


@pytest.fixture
def account(api: Api) -> Iterator[Account]:
    made = Account(api)
    yield made
    made.remove()


@pytest.fixture(params=["kubeconfig", "pod"])
def connected(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], Api]:
    """Connects by the token in a file: a kubeconfig names it, or it is as in a pod."""
    path = tmp_path / "token"
    document = yaml.safe_load(Path(KUBECONFIG).read_text()) if KUBECONFIG else {}
    if request.param == "kubeconfig":
        document["users"] = [
            {"name": user["name"], "user": {"tokenFile": str(path)}}
            for user in document.get("users", [])
        ]
        return lambda: connect(yaml.safe_dump(document))
    authority = tmp_path / "ca.crt"
    for entry in document.get("clusters", []):
        known = entry["cluster"]
        server = urlsplit(entry["cluster"]["server"])
        data = known.get("certificate-authority-data")
        file = known.get("certificate-authority")
        authority.write_bytes(b64decode(data) if data else Path(file).read_bytes())
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", server.hostname or "")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(server.port or 443))
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(path))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(authority))
    return lambda: connect(None)


@pytest.mark.kubernetes
def test_a_token_that_ended_is_followed_by_the_one_in_its_file(
    account: Account, connected: Callable[[], Api], tmp_path: Path
) -> None:
    path = tmp_path / "token"
    path.write_text(account.token(1))
    api = connected()
    assert api.get(ASKED)["gitVersion"]
    account.revoke(1)

    def is_refused() -> bool:
        try:
            api.get(ASKED)
        except EngineUnavailable as error:
            return "401" in str(error)
        return False

    wait_for(is_refused, 60, "the token to end", every=0.5)  # the server remembers it for seconds
    fresh = tmp_path / "fresh"
    fresh.write_text(account.token(2))
    fresh.replace(path)
    assert api.get(ASKED)["gitVersion"], "at once"
