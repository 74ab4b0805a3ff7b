"""REST: credentials, whose values go in and never come out."""

from typing import Any

import pytest

from assets.models import Credential, SecretValue
from audit.models import AuditEntry
from projects.models import Project
from tests.assets.api.conftest import Meta
from tests.caller import Caller
from tests.factories import CredentialFactory
from tests.fuzz.bodies import ASSETS

PATH = "/asset/credentials"
HIDDEN = "zanzibar"  # a value of each of these
SPECS = {path.partition("/")[2]: ASSETS[path] for path in ASSETS if path.startswith("credentials/")}
KEPT = {
    "access-key": {"AccessKeyId": "AKIA1", "SecretKey": HIDDEN},
    "docker-registry": {"username": "a", "password": HIDDEN},
    "generic-secret": {"token": HIDDEN},
    "ngc-api-key": {"NGC_API_KEY": HIDDEN},
    "password": {"User": "ada", "Password": HIDDEN},
}
EACH = pytest.mark.parametrize("path", SPECS)


def values() -> dict[str, str]:
    return {row.key: row.value for row in SecretValue.objects.all()}


@EACH
def test_a_credential_of_each_type_keeps_its_values_and_answers_none(
    call: Caller, meta: Meta, path: str
) -> None:
    collection = f"{PATH}/{path}"
    status, created = call("POST", collection, {"meta": meta(), "spec": SPECS[path]})
    assert status == 201, created
    assert values() == KEPT[path]
    one = f"{collection}/{created['meta']['id']}"
    answers = [created, call("GET", one)[1], call("GET", collection)[1], call("GET", PATH)[1]]
    status, changed = call("PUT", one, {"meta": {"name": "renamed"}, "spec": created["spec"]})
    assert (status, changed["spec"]) == (200, created["spec"]), "what was answered changes nothing"
    assert values() == KEPT[path]
    secrets = {HIDDEN, *KEPT[path].values()} - {"a", "ada"}
    whole = str([*answers, changed, *AuditEntry.objects.values("before", "after")])
    assert not [secret for secret in secrets if secret in whole]
    words = {"user", "password", "accessKeyId", "secretAccessKey", "ngc_api_key"}
    assert not words & created["spec"].keys()
    assert call("DELETE", one)[0] == 204
    assert not Credential.objects.exists()


@EACH
def test_a_credential_can_name_an_existing_secret_instead_of_values(
    call: Caller, meta: Meta, path: str
) -> None:
    plain = {"url": "example.com"} if path == "docker-registry" else {}
    existing = {"existingSecretName": "ours", **plain}
    status, answer = call("POST", f"{PATH}/{path}", {"meta": meta(), "spec": existing})
    assert status == 201, answer
    assert answer["spec"].items() >= existing.items()
    one = f"{PATH}/{path}/{answer['meta']['id']}"
    both = SPECS[path] | {"existingSecretName": "ours"}
    status, refused = call("PUT", one, {"spec": both})
    fields = [it["field"] for it in refused["complianceIssues"]]
    assert (status, fields) == (400, ["spec.existingSecretName"])
    assert call("PUT", one, {"spec": answer["spec"]})[1]["spec"] == answer["spec"]
    assert not values()


def test_a_change_of_a_credential_replaces_the_values_that_are_sent(
    call: Caller, meta: Meta
) -> None:
    _, answer = call("POST", f"{PATH}/password", {"meta": meta(), "spec": SPECS["password"]})
    one = f"{PATH}/password/{answer['meta']['id']}"
    assert call("PUT", one, {"spec": {"password": "new"}})[0] == 200
    assert values() == {"User": "ada", "Password": "new"}


def test_pairs_of_a_generic_secret_are_kept_added_and_removed(call: Caller, meta: Meta) -> None:
    pairs = [{"key": "a", "value": "1"}, {"key": "b", "value": "2"}]
    collection = f"{PATH}/generic-secret"
    _, answer = call("POST", collection, {"meta": meta(), "spec": {"keyValuePairs": pairs}})
    assert answer["spec"]["keyValuePairs"] == [{"key": "a"}, {"key": "b"}]
    one = f"{collection}/{answer['meta']['id']}"
    changed = {"keyValuePairs": [{"key": "b"}, {"key": "c", "value": "3"}]}
    assert call("PUT", one, {"spec": changed})[0] == 200
    assert values() == {"b": "2", "c": "3"}
    missing = {"keyValuePairs": [{"key": "b"}, {"key": "d"}]}
    status, refused = call("PUT", one, {"spec": missing})
    fields = [it["field"] for it in refused["complianceIssues"]]
    assert (status, fields) == (400, ["spec.keyValuePairs.1.value"])
    assert values() == {"b": "2", "c": "3"}


def test_a_generic_secret_with_the_key_ssh_alone_is_an_ssh_key(call: Caller, meta: Meta) -> None:
    collection = f"{PATH}/generic-secret"
    spec = {"keyValuePairs": [{"key": "ssh", "value": "PRIVATE"}]}
    _, answer = call("POST", collection, {"meta": meta(), "spec": spec})
    row = Credential.objects.get()
    assert (row.spec.kind, values()) == ("sshKey", {"ssh": "PRIVATE\n"})
    assert answer["meta"]["kind"] == "genericSecret"
    one = f"{collection}/{row.pk}"
    assert call("PUT", one, {"spec": answer["spec"]})[1]["spec"]["keyValuePairs"] == [
        {"key": "ssh"}
    ]
    assert values() == {"ssh": "PRIVATE\n"}


@pytest.mark.parametrize("name", ["ssh", "pem"])
def test_line_breaks_at_the_end_of_a_key_stay(call: Caller, meta: Meta, name: str) -> None:
    key = "-----BEGIN-----\nabc\n-----END-----\n\n"
    spec = {"keyValuePairs": [{"key": name, "value": key}]}
    call("POST", f"{PATH}/generic-secret", {"meta": meta(), "spec": spec})
    assert values() == {name: key}


def test_known_hosts_are_a_pair_of_an_ssh_key_and_no_secret(call: Caller, meta: Meta) -> None:
    collection = f"{PATH}/generic-secret"
    hosts = "forge.example.com ssh-ed25519 AAAA"
    pairs = [{"key": "ssh", "value": "PRIVATE"}, {"key": "known_hosts", "value": hosts}]
    _, answer = call("POST", collection, {"meta": meta(), "spec": {"keyValuePairs": pairs}})
    shown = [{"key": "ssh"}, {"key": "known_hosts", "value": hosts}]
    assert answer["spec"]["keyValuePairs"] == shown
    row = Credential.objects.get()
    assert (row.spec.known_hosts, values()) == (hosts, {"ssh": "PRIVATE\n"})
    keys = [{"key": "ssh"}, {"key": "known_hosts"}]
    one = f"{collection}/{row.pk}"
    assert call("PUT", one, {"spec": {"keyValuePairs": keys}})[1]["spec"]["keyValuePairs"] == shown
    wrong = [{"key": "ssh"}, {"key": "known_hosts", "value": "forge"}]
    status, refused = call("PUT", one, {"spec": {"keyValuePairs": wrong}})
    assert (status, refused["complianceIssues"][0]["field"]) == (400, "spec.keyValuePairs.1.value")
    dropped = call("PUT", one, {"spec": {"keyValuePairs": [{"key": "ssh"}]}})[1]
    assert dropped["spec"]["keyValuePairs"] == [{"key": "ssh"}]


@pytest.mark.parametrize(
    ("path", "spec", "fields"),
    [
        ("password", {"user": "ada"}, ["password"]),
        ("password", {"user": 1, "password": "x"}, ["user"]),
        ("password", {"User": "a", "user": "a", "password": "x"}, ["User"]),
        ("access-key", {}, ["accessKeyId", "secretAccessKey"]),
        ("access-key", {"existingSecretName": "No!"}, ["existingSecretName"]),
        ("docker-registry", {"user": "a", "password": "x"}, ["url"]),
        ("docker-registry", {"user": "a", "password": "x", "url": "a b"}, ["url"]),
        ("generic-secret", {}, ["keyValuePairs"]),
        ("generic-secret", {"keyValuePairs": "a"}, ["keyValuePairs"]),
        ("generic-secret", {"keyValuePairs": [{"key": "a"}]}, ["keyValuePairs.0.value"]),
        (
            "generic-secret",
            {"keyValuePairs": [{"key": "a b", "value": "x"}]},
            ["keyValuePairs.0.key"],
        ),
        (
            "generic-secret",
            {"keyValuePairs": [{"key": "a", "value": "x", "secret": "y"}]},
            ["keyValuePairs.0.secret"],
        ),
        (
            "generic-secret",
            {"keyValuePairs": [{"key": "a", "value": 1}]},
            ["keyValuePairs.0.value"],
        ),
    ],
    ids=str,
)
def test_faults_of_a_credential_have_the_paths_of_the_request(
    call: Caller, meta: Meta, path: str, spec: dict[str, Any], fields: list[str]
) -> None:
    status, answer = call("POST", f"{PATH}/{path}", {"meta": meta(), "spec": spec})
    assert status == 400
    assert [it["field"] for it in answer["complianceIssues"]] == [f"spec.{it}" for it in fields]
    assert not Credential.objects.exists()
    assert not SecretValue.objects.exists()


def test_a_private_credential_is_its_owners_alone(call: Caller, meta: Meta) -> None:
    collection = f"{PATH}/generic-secret"
    own = {"name": "hub", "scope": "tenant", "private": True}
    status, answer = call("POST", collection, {"meta": own, "spec": SPECS["generic-secret"]})
    assert (status, answer["meta"]["private"]) == (201, True)
    row = Credential.objects.get()
    assert row.owner == row.created_by
    change = {"meta": {"private": False}}
    status, answer = call("PUT", f"{collection}/{row.pk}", change)
    assert (status, answer["complianceIssues"][0]["field"]) == (400, "meta.private")
    body = {"meta": meta(private=True), "spec": SPECS["generic-secret"]}
    status, answer = call("POST", collection, body)
    assert (status, answer["complianceIssues"][0]["field"]) == (400, "meta.scope")


def test_an_ssh_key_of_the_gallery_is_among_the_generic_secrets(
    call: Caller, project: Project
) -> None:
    CredentialFactory(home=project, spec_json={"kind": "sshKey"}, entered={"ssh": HIDDEN})
    (entry,) = call("GET", f"{PATH}/generic-secret")[1]["entries"]
    assert isinstance(entry["spec"].pop("keyId"), int)
    assert entry["spec"] == {"keyValuePairs": [{"key": "ssh"}], "existingSecretName": None}
