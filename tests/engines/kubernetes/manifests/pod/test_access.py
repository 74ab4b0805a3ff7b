"""Credentials of repositories and buckets: in the workload's own Secret, for what fetches alone."""

from base64 import b64decode
from dataclasses import replace
from typing import Any
from uuid import uuid4

from engines.base import Launch, Manifest
from engines.kubernetes.jobs import PYTORCH
from engines.kubernetes.manifests.job import manifests, mask_secrets
from engines.kubernetes.names import secret_name
from tests.engines.kubernetes.launches import loaded

PASSWORD = uuid4()
KEY = uuid4()
BUCKET = uuid4()
SECRETS = {
    PASSWORD: {"User": "ada", "Password": "hidden-password"},
    KEY: {"ssh": "hidden-key\n"},
    BUCKET: {"AccessKeyId": "AKIA", "SecretKey": "hidden-secret"},
}


def opened_by(pk: object) -> dict[str, Any]:
    return {"credential": {"assetId": str(pk), "name": "any"}}


STORAGE = {
    "git": [
        {"repository": "https://example.com/a.git", "path": "/a", **opened_by(PASSWORD)},
        {"repository": "git@example.com:b.git", "path": "/b", **opened_by(KEY)},
    ],
    "s3": [{"bucket": "images", "path": "/images", **opened_by(BUCKET)}],
}


def opened(**more: Any) -> Launch:
    launched = loaded(worker={"image": "i", "storage": STORAGE, **more})
    return replace(launched, secrets=SECRETS)


def of_kind(documents: list[Manifest], kind: str) -> list[Manifest]:
    return [it for it in documents if it["kind"] == kind]


def pod(documents: list[Manifest], role: str = "Worker") -> Manifest:
    spec: Manifest = documents[-1]["spec"][PYTORCH.replicas][role]["template"]["spec"]
    return spec


def variables(container: Manifest) -> dict[str, Any]:
    return {it["name"]: it.get("value", it.get("valueFrom")) for it in container["env"]}


def test_the_values_are_in_the_secret_of_the_workload() -> None:
    (secret,) = of_kind(manifests(opened(), prefix=""), "Secret")
    assert {key: b64decode(value).decode() for key, value in secret["data"].items()} == {
        "worker.git-0.User": "ada",
        "worker.git-0.Password": "hidden-password",
        "worker.git-1.ssh": "hidden-key\n",
        "worker.s3-0.AccessKeyId": "AKIA",
        "worker.s3-0.SecretKey": "hidden-secret",
    }


def test_known_hosts_of_a_key_are_in_the_secret() -> None:
    known = SECRETS | {KEY: SECRETS[KEY] | {"known_hosts": "example.com ssh-ed25519 AAAA"}}
    documents = manifests(replace(opened(), secrets=known), prefix="")
    (secret,) = of_kind(documents, "Secret")
    key = "worker.git-1.known_hosts"
    assert b64decode(secret["data"][key]).decode() == "example.com ssh-ed25519 AAAA"
    by_key = variables(pod(documents)["initContainers"][1])
    assert by_key["SSH_KNOWN_HOSTS"]["secretKeyRef"]["key"] == key


def test_keys_and_settings_become_files_of_the_program() -> None:
    conf = {"name": "a.yaml", "content": "x: 1"}
    keys = {"credential": {"assetId": str(KEY), "name": "any", "keys": ["ssh"]}}
    storage = {
        "secretVolume": [{"secret": "site", "mountPath": "/s"}, {**keys, "mountPath": "/k"}],
        "configMapVolume": [{"files": [conf], "mountPath": "/c", "defaultMode": "0400"}],
    }
    launched = replace(loaded(worker={"image": "i", "storage": storage}), secrets=SECRETS)
    documents = manifests(launched, prefix="")
    (secret,) = of_kind(documents, "Secret")
    data = {key: b64decode(value).decode() for key, value in secret["data"].items()}
    assert data == {"worker.secret-1.0": "hidden-key\n", "worker.config-map-0.0": "x: 1"}
    name = secret_name(launched)
    for role in ("Worker", "Master"):
        volumes = {it["name"]: it["secret"] for it in pod(documents, role)["volumes"]}
        assert volumes["secret-0"] == {"secretName": "site"}
        ssh = [{"key": "worker.secret-1.0", "path": "ssh"}]
        assert volumes["secret-1"] == {"secretName": name, "items": ssh}
        own = {"secretName": name, "items": [{"key": "worker.config-map-0.0", "path": "a.yaml"}]}
        assert volumes["config-map-0"] == {**own, "defaultMode": 0o400}
    assert "hidden" not in str(mask_secrets(documents))


def test_each_fetcher_gets_those_of_its_own() -> None:
    launched = opened()
    name = secret_name(launched)

    def key(of: str) -> dict[str, Any]:
        return {"secretKeyRef": {"name": name, "key": f"worker.{of}"}}

    for role in ("Worker", "Master"):  # the master has the workers' setup
        spec = pod(manifests(launched, prefix=""), role)
        by_password, by_key, bucket = map(variables, spec["initContainers"])
        assert by_password["GIT_USER"] == key("git-0.User")
        assert by_password["GIT_PASSWORD"] == key("git-0.Password")
        assert by_key["SSH_KEY_FILE"] == "/etc/trainyard-git/ssh"
        assert by_key["SSH_KNOWN_HOSTS"]["secretKeyRef"]["optional"], "where the key has some"
        assert bucket["AWS_SECRET_ACCESS_KEY"] == key("s3-0.SecretKey")
        (volume,) = (it["secret"] for it in spec["volumes"] if it["name"] == "git-1-key")
        assert volume["secretName"] == name
        assert volume["items"] == [{"key": "worker.git-1.ssh", "path": "ssh"}]
        assert name not in str(spec["containers"]), "the program has none of them"


def test_a_master_of_its_own_has_its_own_keys() -> None:
    git = {
        "git": [{"repository": "https://example.com/m.git", "path": "/m", **opened_by(PASSWORD)}]
    }
    launched = loaded(worker={"image": "i"}, master={"image": "i", "storage": git})
    documents = manifests(replace(launched, secrets=SECRETS), prefix="")
    (secret,) = of_kind(documents, "Secret")
    assert set(secret["data"]) == {"master.git-0.User", "master.git-0.Password"}
    assert "initContainers" not in pod(documents)


def test_a_user_who_is_not_root_has_a_name_for_ssh() -> None:
    custom = {"uidGidSource": "custom", "runAsUid": 1000, "runAsGid": 0}
    documents = manifests(opened(security=custom), prefix="")
    assert any(it["name"] == "git-passwd" for it in pod(documents)["volumes"])


def test_no_document_for_people_has_a_value() -> None:
    documents = manifests(opened(), prefix="")
    rest = [it for it in documents if it["kind"] != "Secret"]
    assert "hidden" not in str(rest) + str(mask_secrets(documents)) + repr(opened())
    assert set(of_kind(mask_secrets(documents), "Secret")[0]["data"].values()) == {"***"}
