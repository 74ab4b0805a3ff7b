"""A gallery as a table and as CSV: its columns, order, filters."""

import csv
import io

import pytest
from django.test import Client
from django.utils.html import escape
from pytest_django import DjangoAssertNumQueries

from assets.models import DataSource
from tests.assets.links import named
from tests.assets.posts import FACTORIES as OTHERS
from tests.factories import (
    IMAGE,
    CredentialFactory,
    DataSourceFactory,
    EnvironmentFactory,
    ProjectFactory,
    UserFactory,
    WorkloadFactory,
)
from tests.web import HTMX, signed_in

pytestmark = pytest.mark.django_db
FACTORIES = OTHERS | {"data-sources": DataSourceFactory, "credentials": CredentialFactory}
KINDS = pytest.mark.parametrize("prefix", FACTORIES)


@pytest.fixture
def client() -> Client:
    return signed_in(UserFactory.create(administrator=True))


def names(client: Client, address: str) -> list[str]:
    return [asset.name for asset, _ in client.get(address).context["rows"]]


def sheet(client: Client, address: str) -> list[dict[str, str]]:
    text = client.get(address).content.decode()
    return list(csv.DictReader(io.StringIO(text)))


@KINDS
def test_how_a_gallery_is_seen_is_remembered(client: Client, prefix: str) -> None:
    asset = FACTORIES[prefix](created_by=UserFactory(username="ada"))
    assert client.get(f"/{prefix}/").context["look"] == "cards"
    page = client.get(f"/{prefix}/?as=table").content.decode()
    assert "<table" in page
    assert "ada" in page
    assert asset.scope_name in page
    assert names(client, f"/{prefix}/") == [asset.name], "without asking again"
    assert client.get(f"/{prefix}/?as=sculpture").context["look"] == "table"
    assert client.get(f"/{prefix}/?as=cards").context["look"] == "cards"


@KINDS
def test_columns_sort_the_table_both_ways(client: Client, prefix: str) -> None:
    home = ProjectFactory()
    first = UserFactory(username="ada")
    second = UserFactory(username="bob")
    alpha = FACTORIES[prefix](home=home, name="alpha", created_by=second)
    beta = FACTORIES[prefix](home=home, name="beta", created_by=first)
    named(WorkloadFactory(project=home), beta)
    table = f"/{prefix}/?as=table&order="
    assert names(client, f"{table}name") == ["alpha", "beta"]
    assert names(client, f"{table}-name") == ["beta", "alpha"]
    assert names(client, f"{table}by") == ["beta", "alpha"]
    assert names(client, f"{table}-used") == ["beta", "alpha"]
    assert names(client, f"{table}created") == [alpha.name, beta.name]
    assert names(client, f"{table}-created") == [beta.name, alpha.name]
    assert names(client, f"{table}nonsense") == ["alpha", "beta"]


COLUMNS = {
    "environments": {"For": "Any framework", "Image": IMAGE, "Tools": ""},
    "compute-resources": {
        "For": "GPU",
        "GPU per pod": "10 % of a GPU",
        "CPU per pod": "0.1 cores",
        "CPU memory per pod": "100 MB memory",
        "Extended resource": "",
    },
    "data-sources": {
        "Type": "NFS",
        "Where": "nfs.example.com, /export",
        "Container path": "/data",
        "Credential": "",
    },
    "credentials": {"Type": "Generic secret", "Keys": "token", "Existing Secret": ""},
    "templates": {"For": "PyTorch", "Ranks": "2 workers + master", "Environment": "alpha"},
}


@KINDS
def test_a_gallery_has_the_columns_of_its_kind(client: Client, prefix: str) -> None:
    asset = FACTORIES[prefix](in_account=True, description="What it is for")
    if prefix == "templates":
        named(asset, EnvironmentFactory(name="alpha"))
    (row,) = sheet(client, f"/{prefix}/export.csv")
    assert {name: row[name] for name in COLUMNS[prefix]} == COLUMNS[prefix]
    assert (row["Description"], row["Status"]) == ("What it is for", "No issues")
    page = client.get(f"/{prefix}/?as=table").content.decode()
    assert all(escape(name) in page for name in (*row, *filter(None, COLUMNS[prefix].values())))


def test_the_table_says_why_an_asset_cannot_be_used(client: Client) -> None:
    CredentialFactory(spec_json={"kind": "genericSecret", "existingSecret": "hub"})
    (row,) = sheet(client, "/credentials/export.csv")
    assert row["Existing Secret"] == "hub"
    assert "Secret" in row["Status"]
    assert row["Status"] != "No issues"


def test_an_asset_that_is_no_longer_valid_says_why(client: Client) -> None:
    EnvironmentFactory(spec_json={"image": "a b"})
    (row,) = sheet(client, "/environments/export.csv")
    assert row["For"] == ""
    assert row["Status"].startswith("Image ")
    page = client.get("/environments/?as=cards").content.decode()
    assert f'class="grow" title="No longer valid: {escape(row["Status"])}"' in page, "not cut off"


def test_type_and_author_narrow_the_gallery(client: Client) -> None:
    ada = UserFactory(username="ada")
    share = DataSourceFactory(created_by=ada)
    spec = {"kind": "git", "git": {"repository": "https://x.org/y", "path": "/code"}}
    code = DataSourceFactory(home=share.project, spec_json=spec)
    table = "/data-sources/?as=table"
    assert names(client, f"{table}&type=git") == [code.name]
    assert names(client, f"{table}&by=ada") == [share.name]
    assert set(names(client, f"{table}&type=floppy")) == {share.name, code.name}
    assert "No results" in client.get(f"{table}&type=git&by=ada").content.decode()
    part = client.get(f"{table}&by=ada", **HTMX).content.decode()
    assert "<html" not in part
    assert 'data-announce="1 data source"' in part


@KINDS
def test_the_table_takes_a_fixed_number_of_queries(
    client: Client, prefix: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    FACTORIES[prefix].create_batch(30, home=ProjectFactory())
    client.get(f"/{prefix}/?as=table")
    with django_assert_max_num_queries(10):
        assert len(names(client, f"/{prefix}/")) == 30


@KINDS
def test_the_export_has_what_is_filtered(client: Client, prefix: str) -> None:
    asset = FACTORIES[prefix](name="=alpha", created_by=UserFactory(username="ada"))
    FACTORIES[prefix](home=asset.project, name="beta")
    (row,) = sheet(client, f"/{prefix}/export.csv?q=alpha")
    assert (row["Name"], row["Created by"]) == ("'=alpha", "ada"), "no formula"
    assert row["Scope"] == asset.scope_name
    assert len(sheet(client, f"/{prefix}/export.csv")) == 2


def test_the_export_has_only_what_one_sees() -> None:
    member = UserFactory.create()
    home = ProjectFactory.create(members=[member])
    own = CredentialFactory.create(home=home)
    CredentialFactory.create()
    rows = sheet(signed_in(member), "/credentials/export.csv")
    assert [row["Name"] for row in rows] == [own.name]
    assert not DataSource.objects.exists()
    assert sheet(signed_in(member), "/data-sources/export.csv") == []
