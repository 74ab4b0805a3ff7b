"""The page of an asset's versions, of every kind."""

from typing import Any

import pytest

from assets import services
from assets.base import AssetKind
from assets.kinds import KINDS
from assets.models import AssetVersion
from projects.models import Project
from tests.factories import (
    ComputeResourceFactory,
    CredentialFactory,
    DataSourceFactory,
    EnvironmentFactory,
    ProjectFactory,
    TemplateFactory,
    UserFactory,
)
from tests.web import DRAWER, signed_in

pytestmark = pytest.mark.django_db
FACTORIES = {
    "environment": EnvironmentFactory,
    "compute": ComputeResourceFactory,
    "template": TemplateFactory,
    "data-source": DataSourceFactory,
    "credential": CredentialFactory,
}
EACH = pytest.mark.parametrize("slug", KINDS)


@EACH
def test_an_asset_is_restored_on_its_page(slug: str) -> None:
    kind: AssetKind[Any] = KINDS[slug]
    own = {"entered": {"token": "not to be read"}} if slug == "credential" else {}
    asset = FACTORIES[slug](name="first", **own)
    administrator = UserFactory(administrator=True)
    services.update(kind, asset, by=administrator, name="second")
    client = signed_in(administrator)
    versions = kind.address("versions", asset.pk)
    assert versions in client.get(asset.get_absolute_url()).content.decode()
    page = client.get(versions).content.decode()
    assert "-name: first" in page
    assert "+name: second" in page
    answer = client.post(kind.address("restore", asset.pk, 1))
    assert answer["Location"] == asset.get_absolute_url()
    asset.refresh_from_db()
    assert asset.name == "first"
    assert AssetVersion.objects.filter(kind=slug, asset_id=asset.pk).count() == 3


def test_a_version_that_cannot_be_restored_is_told_on_the_page() -> None:
    home: Project = ProjectFactory()
    asset = EnvironmentFactory(home=home, name="first")
    administrator = UserFactory(administrator=True)
    services.update(KINDS["environment"], asset, by=administrator, name="second")
    EnvironmentFactory(home=home, name="first")
    client = signed_in(administrator)
    answer = client.post(f"/environments/{asset.pk}/versions/1/restore/", **DRAWER)
    assert answer.status_code == 422
    assert "Version 1 cannot be restored. " in answer.content.decode()
    assert client.post(f"/environments/{asset.pk}/versions/9/restore/").status_code == 404


def test_a_reader_gets_no_button_and_cannot_restore() -> None:
    home: Project = ProjectFactory(members=[reader := UserFactory()])
    asset = EnvironmentFactory(home=home, in_account=True, name="first")
    services.update(KINDS["environment"], asset, by=UserFactory(administrator=True), name="second")
    client = signed_in(reader)
    page = client.get(f"/environments/{asset.pk}/versions/").content.decode()
    assert "+name: second" in page
    assert "/restore/" not in page
    assert client.post(f"/environments/{asset.pk}/versions/1/restore/").status_code == 403
