"""The galleries: who sees what, search, filter, details."""

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.assets.links import named
from tests.assets.posts import FACTORIES
from tests.factories import (
    ComputeResourceFactory,
    ProjectFactory,
    TemplateFactory,
    UserFactory,
    WorkloadFactory,
)
from tests.web import DRAWER, HTMX, signed_in

pytestmark = pytest.mark.django_db
KINDS = pytest.mark.parametrize("prefix", FACTORIES)


@KINDS
def test_the_galleries_of_assets_ask_for_signing_in(prefix: str, client: Client) -> None:
    asset = FACTORIES[prefix]()
    for page in (
        "",
        f"{asset.pk}/",
        f"{asset.pk}/edit/",
        f"{asset.pk}/copy/",
        f"{asset.pk}/delete/",
    ):
        response = client.get(f"/{prefix}/{page}")
        assert response.status_code == 302
        assert response["Location"].startswith("/accounts/login/")


@KINDS
def test_a_fragment_asks_the_whole_page_to_sign_in(prefix: str, client: Client) -> None:
    response = client.get(f"/{prefix}/", **HTMX, HTTP_HX_CURRENT_URL=f"http://testserver/{prefix}/")
    assert response["HX-Redirect"] == f"/accounts/login/?next=%2F{prefix}%2F"


@KINDS
def test_a_stranger_finds_no_asset_of_a_gallery(prefix: str) -> None:
    asset = FACTORIES[prefix]()
    client = signed_in(UserFactory())
    assert asset.name not in client.get(f"/{prefix}/").content.decode()
    for page in ("", "edit/", "copy/", "delete/"):
        assert client.get(f"/{prefix}/{asset.pk}/{page}").status_code == 404
        assert client.post(f"/{prefix}/{asset.pk}/{page}").status_code in {404, 405}
    asset.refresh_from_db()


@KINDS
def test_members_see_assets_of_project_department_and_cluster(prefix: str) -> None:
    member = UserFactory()
    home = ProjectFactory(members=[member])
    make = FACTORIES[prefix]
    seen = [make(home=home), make(home=home, in_department=True), make(home=home, in_cluster=True)]
    hidden = make(home=ProjectFactory(cluster=home.cluster, department=home.department))
    page = signed_in(member).get(f"/{prefix}/").content.decode()
    assert all(asset.name in page for asset in seen)
    assert hidden.name not in page
    assert (
        hidden.name
        in signed_in(UserFactory(administrator=True)).get(f"/{prefix}/").content.decode()
    )


@KINDS
def test_search_and_filter_narrow_the_gallery(prefix: str) -> None:
    home = ProjectFactory()
    make = FACTORIES[prefix]
    client = signed_in(UserFactory(administrator=True))
    make(home=home, name="alpha")
    make(home=home, name="beta", description="like Alpha")
    make(home=home, name="gamma", in_cluster=True)
    assert _shown(client, f"/{prefix}/?q=alpha") == ["alpha", "beta"]
    assert _shown(client, f"/{prefix}/?scope=cluster") == ["gamma"]
    assert _shown(client, f"/{prefix}/?scope=nonsense&page=99") == ["alpha", "beta", "gamma"]
    assert "No results" in client.get(f"/{prefix}/?q=zzz").content.decode()


def _shown(client: Client, address: str) -> list[str]:
    return [card["title"] for card in client.get(address).context["cards"]]


@KINDS
def test_htmx_gets_the_cards_alone(prefix: str) -> None:
    client = signed_in(UserFactory(administrator=True))
    FACTORIES[prefix](name="alpha")
    part = client.get(f"/{prefix}/", **HTMX).content.decode()
    assert "alpha" in part
    assert "<html" not in part
    assert 'data-announce="1 ' in part
    assert "<html" in client.get(f"/{prefix}/", **HTMX, HTTP_HX_BOOSTED="true").content.decode()


@KINDS
def test_the_gallery_takes_a_fixed_number_of_queries(
    prefix: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    home = ProjectFactory()
    client = signed_in(UserFactory(administrator=True))
    FACTORIES[prefix].create_batch(20, home=home)
    with django_assert_max_num_queries(9):
        client.get(f"/{prefix}/")


@KINDS
def test_the_page_of_an_asset_shows_its_values_and_its_users(prefix: str) -> None:
    asset = FACTORIES[prefix](created_by=UserFactory(username="ada"))
    workload = WorkloadFactory(running=True, project=asset.project)
    gone = WorkloadFactory(deleting=True, project=asset.project, deleted_at=asset.created_at)
    for used in (workload, gone):
        named(used, asset)
    client = signed_in(UserFactory(administrator=True))
    page = client.get(f"/{prefix}/{asset.pk}/").content.decode()
    assert asset.scope_name in page
    assert "ada" in page
    assert workload.name in page
    assert gone.name not in page
    assert "<html" not in client.get(f"/{prefix}/{asset.pk}/", **DRAWER).content.decode()


@pytest.mark.parametrize("prefix", ["environments", "compute-resources"])
def test_templates_that_use_an_asset_are_listed(prefix: str) -> None:
    asset = FACTORIES[prefix]()
    template = TemplateFactory(home=asset.project, name="base-template")
    named(template, asset)
    page = signed_in(UserFactory(administrator=True)).get(f"/{prefix}/{asset.pk}/").content.decode()
    assert "base-template" in page


def test_a_template_leads_to_the_wizard() -> None:
    template = TemplateFactory()
    page = signed_in(UserFactory(administrator=True)).get(f"/templates/{template.pk}/")
    assert f"/workloads/new/?template={template.pk}" in page.content.decode()


def test_cards_of_a_machine_without_gpus_say_virtual() -> None:
    virtual = ComputeResourceFactory()
    real = ComputeResourceFactory(home__cluster__nodes=0)
    client = signed_in(UserFactory(administrator=True))
    facts = {
        card["title"]: card["facts"][0][2]
        for card in client.get("/compute-resources/").context["cards"]
    }
    assert facts == {virtual.name: "10 % of a virtual GPU", real.name: "10 % of a GPU"}
    page = client.get(f"/compute-resources/{virtual.pk}/").content.decode()
    assert "accounting units" in page


def test_the_form_names_the_clusters_whose_gpus_are_virtual() -> None:
    virtual = ProjectFactory().cluster
    client = signed_in(UserFactory(administrator=True))
    assert "Virtual GPUs on" not in client.get("/compute-resources/new/").content.decode()
    ProjectFactory(cluster__nodes=0)
    page = client.get("/compute-resources/new/").content.decode()
    assert f"Virtual GPUs on {virtual.name}" in page
