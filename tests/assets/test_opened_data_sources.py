"""Data sources that name a credential: which they can, and what keeps it from going."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from assets import services
from assets.credential.kind import CREDENTIAL
from assets.data_source.kind import DATA_SOURCE
from assets.models import Credential, DataSource
from projects.models import Project
from projects.scopes import OwningScope
from spec.problems.errors import SpecError
from tests.factories import CredentialFactory, ProjectFactory, UserFactory
from tests.web import signed_in

pytestmark = pytest.mark.django_db
HTTPS = "https://example.com/train.git"
SSH = "git@example.com:train.git"
PASSWORD = {"spec_json": {"kind": "password"}, "entered": {"User": "ada", "Password": "hidden-pw"}}
SSH_KEY = {"spec_json": {"kind": "sshKey"}, "entered": {"ssh": "hidden-key"}}
ACCESS_KEY = {
    "spec_json": {"kind": "accessKey"},
    "entered": {"AccessKeyId": "AKIA", "SecretKey": "hidden-sk"},
}


@pytest.fixture
def user() -> User:
    return UserFactory.create()


@pytest.fixture
def project(user: User) -> Project:
    return ProjectFactory.create(members=[user], cluster__kind="kubernetes")


@pytest.fixture
def client(user: User) -> Client:
    return signed_in(user)


@pytest.fixture
def forge(project: Project) -> Credential:
    return CredentialFactory.create(home=project, name="forge", **PASSWORD)


def posted(project: Project, **more: str) -> dict[str, str]:
    where = {"cluster": str(project.cluster_id), "scope": f"project:{project.pk}", "name": "code"}
    git = {"kind": "git", "git_repository": HTTPS, "git_path": "/code"}
    return {**where, **git, **more}


def bucket(**more: str) -> dict[str, str]:
    return {"kind": "s3", "s3_bucket": "images", "s3_path": "/images", **more}


def test_a_data_source_names_its_credential_and_shows_it(
    client: Client, project: Project, forge: Credential
) -> None:
    page = client.get("/data-sources/new/").content.decode()
    words = f"forge (Username &amp; password, Project {project.name})"
    assert f'<option value="{forge.pk}">{words}</option>' in page
    answer = client.post("/data-sources/new/", posted(project, git_credential=str(forge.pk)))
    assert answer.status_code == 302, answer.context["form"].errors
    source = DataSource.objects.get()
    named = {"assetId": str(forge.pk), "name": "forge"}
    assert source.spec_json["git"]["credential"] == named
    edit = client.get(f"/data-sources/{source.pk}/edit/").content.decode()
    assert f'<option value="{forge.pk}" selected>{words}</option>' in edit
    shown = client.get(source.get_absolute_url()).content.decode()
    assert "forge" in shown
    assert "hidden-pw" not in page + edit + shown


def test_a_credential_that_a_data_source_names_stays_until_it_names_another(
    client: Client, project: Project, forge: Credential
) -> None:
    client.post("/data-sources/new/", posted(project, git_credential=str(forge.pk)))
    source = DataSource.objects.get()
    page = client.get(forge.get_absolute_url()).content.decode()
    assert "Data source" in page
    assert source.get_absolute_url() in page
    assert "Used by 1 data source" in client.get("/credentials/").content.decode()
    answer = client.post(f"/credentials/{forge.pk}/delete/")
    assert answer.status_code == 422
    assert "forge is used by data source code." in answer.content.decode()
    client.post(f"/data-sources/{source.pk}/edit/", posted(project))
    source.refresh_from_db()
    assert source.spec.credential is None
    services.delete(CREDENTIAL, forge, by=UserFactory.create(administrator=True))
    assert not Credential.objects.exists()


WRONG: list[tuple[dict[str, Any], dict[str, str], str]] = [
    (SSH_KEY, {}, "a repository by https takes the type Username & password"),
    (PASSWORD, {"git_repository": SSH}, "a repository by ssh takes the type SSH key"),
    (PASSWORD, {"git_repository": "git://example.com/x"}, "with git:// has no sign-in"),
    (PASSWORD, {"git_secretRef_name": "mine"}, "not both"),
    (ACCESS_KEY, bucket(s3_accessKeySecret="mine"), "not both"),
]


@pytest.mark.parametrize(("of", "values", "words"), WRONG)
def test_a_credential_that_cannot_open_the_address_is_refused_at_its_field(
    client: Client, project: Project, of: dict[str, Any], values: dict[str, str], words: str
) -> None:
    credential = CredentialFactory.create(home=project, name="odd", **of)
    field = "s3_credential" if values.get("kind") == "s3" else "git_credential"
    answer = client.post(
        "/data-sources/new/", posted(project, **{**values, field: str(credential.pk)})
    )
    assert answer.status_code == 422
    assert words in " ".join(answer.context["form"].errors[field])
    assert not DataSource.objects.exists()


@pytest.mark.parametrize(
    ("of", "values", "field"),
    [(SSH_KEY, {"git_repository": SSH}, "git_credential"), (ACCESS_KEY, bucket(), "s3_credential")],
)
def test_an_ssh_key_opens_ssh_and_an_access_key_a_bucket(
    client: Client, project: Project, of: dict[str, Any], values: dict[str, str], field: str
) -> None:
    credential = CredentialFactory.create(home=project, **of)
    answer = client.post(
        "/data-sources/new/", posted(project, **{**values, field: str(credential.pk)})
    )
    assert answer.status_code == 302
    spec = DataSource.objects.get().spec
    assert spec.credential
    assert spec.credential.asset_id == credential.pk


def test_a_credential_of_another_scope_is_told_at_its_field(
    user: User, client: Client, project: Project
) -> None:
    other = ProjectFactory.create(members=[user], cluster=project.cluster)
    theirs = CredentialFactory.create(home=other, name="theirs", **PASSWORD)
    answer = client.post("/data-sources/new/", posted(project, git_credential=str(theirs.pk)))
    assert answer.status_code == 422
    (words,) = answer.context["form"].errors["git_credential"]
    assert f"The credential theirs cannot be used in Project {project.name}" in words
    elsewhere = CredentialFactory.create(name="unseen", **PASSWORD)
    answer = client.post("/data-sources/new/", posted(project, git_credential=str(elsewhere.pk)))
    assert "git_credential" in answer.context["form"].errors


def test_a_data_source_refuses_a_credential_with_a_narrower_scope(
    project: Project, forge: Credential
) -> None:
    admin = UserFactory.create(administrator=True)
    wide = CredentialFactory.create(home=project, in_account=True, name="wide", **PASSWORD)

    def create(credential: Credential, place: OwningScope, name: str) -> None:
        named = {"assetId": str(credential.pk), "name": credential.name}
        git = {"repository": HTTPS, "path": "/code", "credential": named}
        document = {"kind": "git", "git": git}
        services.create(DATA_SOURCE, by=admin, name=name, scope=place, document=document)

    for number, holder in enumerate((None, project.cluster, project.department, project)):
        create(wide, OwningScope(holder), f"wide-{number}")
    for holder in (None, project.cluster, project.department):
        with pytest.raises(SpecError, match="forge cannot be used in"):
            create(forge, OwningScope(holder), "narrow")
