"""What cannot be used in a cluster says why on its card, and cannot be chosen."""

import pytest
from django.test import Client

from accounts.models import User
from projects.models import Project
from tests.factories import CredentialFactory, DataSourceFactory, ProjectFactory, UserFactory
from tests.web import signed_in
from workloads.models import Draft

pytestmark = pytest.mark.django_db
MAP = {"kind": "configMapVolume", "configMapVolume": {"configMap": "conf", "mountPath": "/conf"}}
GIT = {"kind": "git", "git": {"repository": "https://example.com/x", "path": "/code"}}


@pytest.fixture
def user() -> User:
    return UserFactory.create()


@pytest.fixture
def client(user: User) -> Client:
    return signed_in(user)


@pytest.fixture
def project(user: User) -> Project:
    return ProjectFactory.create(members=[user])


def test_a_card_says_why_it_cannot_be_used_in_its_cluster(client: Client, project: Project) -> None:
    DataSourceFactory.create(home=project, name="conf", spec_json=MAP)
    spec = {"kind": "password", "existingSecret": "forge"}
    held = CredentialFactory.create(home=project, name="forge", spec_json=spec)
    named = {"assetId": str(held.pk), "name": "forge"}
    private = {"kind": "git", "git": {**GIT["git"], "credential": named}}  # type: ignore[dict-item]
    DataSourceFactory.create(home=project, name="private", spec_json=private)
    registry = {"kind": "dockerRegistry", "server": "r.io", "existingSecret": "r"}
    CredentialFactory.create(home=project, name="images", spec_json=registry)
    page = client.get("/data-sources/").content.decode()
    assert page.count("Cannot be used here") == 2
    assert "This machine has no ConfigMaps; give its files instead" in page
    assert (
        "Its credential forge cannot be used: in an existing Secret, which only Kubernetes" in page
    )
    page = client.get("/credentials/").content.decode()
    assert page.count("Cannot be used here") == 2
    assert "In an existing Secret, which only Kubernetes has" in page
    detail = client.get(f"/credentials/{held.pk}/").content.decode()
    assert "In an existing Secret, which only Kubernetes has" in detail


def test_a_card_says_nothing_if_its_cluster_can_use_it(user: User) -> None:
    project = ProjectFactory.create(members=[user], cluster__kind="kubernetes")
    DataSourceFactory.create(home=project, spec_json=MAP)
    DataSourceFactory.create(home=project, in_account=True, spec_json=MAP)
    assert "Cannot be used here" not in signed_in(user).get("/data-sources/").content.decode()


def test_the_wizard_shows_an_unusable_asset_with_its_reason_and_disables_it(
    user: User, client: Client, project: Project
) -> None:
    conf = DataSourceFactory.create(home=project, name="conf", spec_json=MAP)
    code = DataSourceFactory.create(home=project, name="code", spec_json=GIT)
    worker = {"values": {"dataSources": [{"id": "", "path": ""}]}}
    place = {"project": project.pk, "cluster": str(project.cluster_id)}
    row = Draft.objects.create(owner=user, document={"name": "train", **place, "worker": worker})
    page = client.get(f"/workloads/drafts/{row.pk}/2/").content.decode()
    assert "<option disabled>conf: this machine has no ConfigMaps; give its files instead" in page
    assert f'<option value="{code.pk}"' in page
    assert f'<option value="{conf.pk}"' not in page
