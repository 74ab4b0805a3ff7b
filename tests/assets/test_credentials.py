"""Credentials: their form for each kind, and that their values go in and never come out."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from assets import services
from assets.credential.form import KINDS
from assets.credential.kind import CREDENTIAL
from assets.models import Credential, SecretValue
from audit.models import AuditEntry
from core.database import rotation
from core.database.fields import is_under_first_key
from projects.models import Project
from projects.scopes import OwningScope
from spec.problems.errors import SpecError
from tests.factories import CredentialFactory, ProjectFactory, UserFactory
from tests.web import signed_in

pytestmark = pytest.mark.django_db
HIDDEN = "tr41n-l1ke-nobody-reads"
KEY = f"-----BEGIN OPENSSH PRIVATE KEY-----\n{HIDDEN}\n-----END OPENSSH PRIVATE KEY-----"
PAIRS = "values-pairs"


def pairs(*given: tuple[str, str]) -> dict[str, str]:
    """A key and a value in each row."""
    rows = enumerate(given)
    return {
        f"{PAIRS}-{at}-{part}": text
        for at, (key, value) in rows
        for part, text in (("rest", ""), ("name", key), ("value", value))
    }


FILLED: dict[str, dict[str, str]] = {
    "genericSecret": pairs(("token", HIDDEN), ("url", "https://x.org/?a=b")),
    "accessKey": {"values-AccessKeyId": "AKIA1", "values-SecretKey": HIDDEN},
    "password": {"values-User": "ada", "values-Password": f" {HIDDEN} "},
    "sshKey": {"values-ssh": KEY},
    "dockerRegistry": {"values-username": "ada", "values-password": HIDDEN},
    "ngcApiKey": {"values-NGC_API_KEY": HIDDEN},
}
PLAIN = {"dockerRegistry": {"server": "https://registry.example.com", "email": "a@example.com"}}
KEPT: dict[str, dict[str, str]] = {
    "genericSecret": {"token": HIDDEN, "url": "https://x.org/?a=b"},
    "accessKey": {"AccessKeyId": "AKIA1", "SecretKey": HIDDEN},
    "password": {"User": "ada", "Password": f" {HIDDEN} "},
    "sshKey": {"ssh": f"{KEY}\n"},
    "dockerRegistry": {"username": "ada", "password": HIDDEN},
    "ngcApiKey": {"NGC_API_KEY": HIDDEN},
}
EACH = pytest.mark.parametrize("kind", [value for value, _ in KINDS])


@pytest.fixture
def user() -> User:
    return UserFactory.create()


@pytest.fixture
def project(user: User) -> Project:
    return ProjectFactory.create(members=[user])


@pytest.fixture
def client(user: User) -> Client:
    return signed_in(user)


def posted(project: Project, kind: str, **more: str) -> dict[str, str]:
    where = {"cluster": str(project.cluster_id), "scope": f"project:{project.pk}"}
    return (
        {**where, "name": f"my-{kind}".lower(), "kind": kind, **PLAIN.get(kind, {})}
        | FILLED[kind]
        | more
    )


def test_known_hosts_of_an_ssh_key_are_checked_shown_and_kept(
    client: Client, project: Project
) -> None:
    hosts = "# ours\nforge.example.com ssh-ed25519 AAAAC3Nz\n|1|a=|b= ecdsa-sha2-nistp256 AAAA me"
    for wrong in ("forge.example.com", "forge.example.com AAAA ssh-rsa", f"{hosts}\nssh-rsa AAAA"):
        answer = client.post("/credentials/new/", posted(project, "sshKey", knownHosts=wrong))
        assert "ssh-keyscan" in str(answer.context["form"].errors["knownHosts"])
    client.post("/credentials/new/", posted(project, "sshKey", knownHosts=hosts))
    row = Credential.objects.get()
    assert row.spec.known_hosts == hosts
    assert "forge.example.com, hashed" in client.get("/credentials/").content.decode()
    password = posted(project, "password", knownHosts=hosts)
    client.post("/credentials/new/", password)
    assert Credential.objects.get(name=password["name"]).spec.known_hosts is None


def test_only_a_registry_has_a_server(client: Client, project: Project) -> None:
    for kind in ("dockerRegistry", "password"):
        where = PLAIN["dockerRegistry"] | {"name": kind.lower()}
        assert client.post("/credentials/new/", posted(project, kind, **where)).status_code == 302
    servers = {row.name: (row.spec.server, row.spec.email) for row in Credential.objects.all()}
    assert servers["password"] == (None, None)
    assert servers["dockerregistry"] == ("https://registry.example.com", "a@example.com")
    assert "https://registry.example.com" in client.get("/credentials/").content.decode()
    for wrong, words in (("", "required"), ("https://ada:x@host", "without a user")):
        answer = client.post("/credentials/new/", posted(project, "dockerRegistry", server=wrong))
        assert words in str(answer.context["form"].errors["server"])


def values_of(credential: Credential) -> dict[str, str]:
    return dict(credential.secret_values.values_list("key", "value"))


@EACH
def test_credentials_of_each_kind_are_created_without_values_on_any_page(
    client: Client, project: Project, kind: str
) -> None:
    answer = client.post("/credentials/new/", posted(project, kind))
    credential = Credential.objects.get()
    assert answer.status_code == 302
    assert values_of(credential) == KEPT[kind]
    for page in ("", "edit/", "copy/"):
        text = client.get(f"/credentials/{credential.pk}/{page}").content.decode()
        assert credential.name in text
        assert HIDDEN not in text
    gallery = client.get("/credentials/").content.decode()
    assert credential.name in gallery
    assert HIDDEN not in gallery


@EACH
def test_values_that_are_left_empty_stay_and_others_change(
    client: Client, project: Project, kind: str
) -> None:
    client.post("/credentials/new/", posted(project, kind))
    credential = Credential.objects.get()
    empty = dict.fromkeys(FILLED[kind], "")
    address = f"/credentials/{credential.pk}/edit/"
    assert client.post(address, posted(project, kind, **empty, name="other")).status_code == 302
    credential.refresh_from_db()
    assert (credential.name, values_of(credential)) == ("other", KEPT[kind])
    one = {list(FILLED[kind])[-1]: "new"}
    new = pairs(("token", "new"), ("more", "1")) if kind == "genericSecret" else one
    client.post(address, posted(project, kind, **empty | new))
    changed = values_of(credential)
    assert "new" in {value.strip() for value in changed.values()}
    if kind == "genericSecret":
        assert set(changed) == {"token", "more"}, "the keys that are there are those entered"


@EACH
def test_a_credential_without_its_values_says_so_at_its_fields(
    client: Client, project: Project, kind: str
) -> None:
    values = posted(project, kind) | dict.fromkeys(FILLED[kind], "")
    answer = client.post("/credentials/new/", values)
    assert answer.status_code == 422
    form = answer.context["form"]
    fields = {PAIRS} if kind == "genericSecret" else set(FILLED[kind])
    assert set(form.errors) == fields
    assert not form.non_field_errors
    assert not Credential.objects.exists()


WRONG = [
    (pairs(("", HIDDEN)), PAIRS, "Enter a key for the value."),
    (pairs(("to/ken", "x")), PAIRS, "to/ken"),
    (pairs(("a", "1"), ("a", "2")), PAIRS, "twice"),
    ({"existingSecret": "kept-there"}, "existingSecret", "not both"),
    ({"existingSecret": "No Name", **pairs(("", ""), ("", ""))}, "existingSecret", "lower-case"),
    ({"kind": "retina"}, "kind", "valid choice"),
]


@pytest.mark.parametrize(("values", "field", "words"), WRONG)
def test_a_wrong_value_is_told_at_its_field_without_the_secret(
    client: Client, project: Project, values: dict[str, str], field: str, words: str
) -> None:
    answer = client.post("/credentials/new/", posted(project, "genericSecret") | values)
    assert answer.status_code == 422
    assert words in str(answer.context["form"].errors[field])
    assert HIDDEN not in answer.content.decode()


def test_an_existing_secret_needs_no_values_and_takes_their_place(
    client: Client, project: Project
) -> None:
    client.post("/credentials/new/", posted(project, "password"))
    credential = Credential.objects.get()
    nothing = dict.fromkeys(FILLED["password"], "")
    there = posted(project, "password", **nothing, existingSecret="kept-there")
    assert client.post(f"/credentials/{credential.pk}/edit/", there).status_code == 302
    credential.refresh_from_db()
    assert credential.spec.existing_secret == "kept-there"
    assert not values_of(credential), "values that nothing uses are not kept"


def test_a_copy_has_no_values_until_they_are_entered(client: Client, project: Project) -> None:
    client.post("/credentials/new/", posted(project, "password"))
    address = f"/credentials/{Credential.objects.get().pk}/copy/"
    nothing = dict.fromkeys(FILLED["password"], "")
    assert client.post(address, posted(project, "password", **nothing, name="b")).status_code == 422
    assert client.post(address, posted(project, "password", name="b")).status_code == 302
    assert Credential.objects.count() == 2


def test_the_audit_log_has_changes_of_values_but_no_values(
    client: Client, project: Project
) -> None:
    client.post("/credentials/new/", posted(project, "password"))
    credential = Credential.objects.get()
    change = posted(project, "password", **{"values-Password": f"{HIDDEN}-2"})
    client.post(f"/credentials/{credential.pk}/edit/", change)
    entry = AuditEntry.objects.filter(verb="update").get()
    assert (entry.before, entry.after) == ({"values_version": 1}, {"values_version": 2})
    assert HIDDEN not in str(list(AuditEntry.objects.values()))


def test_the_database_holds_values_encrypted_and_a_new_key_reads_them(
    settings: Any, project: Project
) -> None:
    credential = CredentialFactory.create(home=project, entered={"token": HIDDEN})
    column = SecretValue.objects.extra(select={"raw": "value"}).values_list("raw", flat=True)
    assert HIDDEN not in str(list(column))
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-key-of-this-installation"
    assert rotation.reencrypt_all().rewritten == 1
    settings.SECRET_KEY_FALLBACKS = []
    assert all(is_under_first_key(raw) for raw in column.all())
    assert values_of(credential) == {"token": HIDDEN}


def test_values_are_written_only_with_a_credential_that_is_good(
    user: User, project: Project
) -> None:
    with pytest.raises(SpecError):
        services.create(
            CREDENTIAL,
            by=user,
            name="",
            scope=OwningScope(project),
            document={"kind": "password"},
            entered={"User": "a", "Password": HIDDEN},
        )
    assert not SecretValue.objects.exists()
