"""What the galleries offer, hide and refuse, and what a page costs with many assets."""

import re

import pytest
from pytest_django import DjangoAssertNumQueries

from projects.models import Project
from tests.factories import (
    ClusterFactory,
    ComputeResourceFactory,
    DataSourceFactory,
    EnvironmentFactory,
    ProjectFactory,
    TemplateFactory,
    WorkloadFactory,
)
from tests.workloads.wizard.browser import HTMX, Inputs, Wizard
from workloads.models import Workload

pytestmark = pytest.mark.django_db
MOST_QUERIES = 28
GALLERY = "worker-environment"
SOURCES = "worker-dataSources"


def search(wizard: Wizard, **query: str) -> str:
    response = wizard.client.get(f"{wizard.at(2)}gallery/{GALLERY}/", query, **HTMX)
    assert response.status_code == 200
    return response.content.decode()


def test_unfit_environments_are_shown_disabled_with_the_reason(
    wizard: Wizard, project: Project
) -> None:
    wizard.ready()
    EnvironmentFactory(home=project, name="tf-only", framework="TF")
    EnvironmentFactory(home=project, name="notebook", distributed=False)
    page = wizard.open(wizard.at(2)).page
    assert "For TensorFlow" in page
    assert "For standard workloads only; this one is distributed" in page
    assert GALLERY in Inputs(page).disabled or page.count("is-off") == 2


def test_frameworks_that_the_cluster_lacks_say_why(wizard: Wizard, project: Project) -> None:
    cluster = project.cluster
    for framework in cluster.capabilities_json["frameworks"]:
        if framework["framework"] == "MPI":
            framework.update(available=False, why="mpirun is missing here.")
    cluster.save()
    page = wizard.open().page
    assert "mpirun is missing here." in page
    offered = dict(re.findall(r'name="framework" [^>]*?value="(\w+)"([^>]*)>', page))
    assert len(offered) == 5
    assert [name for name, rest in offered.items() if "disabled" in rest] == ["MPI"]
    wizard.save(1, framework="MPI")
    wizard.press("continue", name="train", framework="MPI")
    assert wizard.status == 422


def test_a_gallery_shows_a_few_assets_then_the_rest(wizard: Wizard, project: Project) -> None:
    wizard.ready()
    for number in range(10):
        EnvironmentFactory(home=project, name=f"aaa-{number}")
    page = wizard.open(wizard.at(2)).page
    assert "Show 4 more" in page
    assert "env-train" in page, "the chosen one is always there"
    assert "aaa-9" in search(wizard, all=GALLERY)
    wizard.press(f"all:{GALLERY}")
    assert "aaa-9" in wizard.page


def test_search_looks_at_names_texts_and_images(wizard: Wizard, project: Project) -> None:
    wizard.ready()
    spec = {"image": "registry.example/vision:7"}
    EnvironmentFactory(home=project, name="vit", description="Large runs", spec_json=spec)
    EnvironmentFactory(home=project, name="bert")
    for words in ("vit", "LARGE runs", "vision:7"):
        found = search(wizard, **{f"{GALLERY}-search": words})
        assert "registry.example" in found
        assert "bert" not in found
    assert "No results for" not in search(wizard, **{f"{GALLERY}-search": "zzz"})
    wizard.open(wizard.at(2)).press("search", **{f"{GALLERY}-search": "vit"})
    assert "bert" not in wizard.page


def test_an_empty_gallery_says_what_to_do(wizard: Wizard) -> None:
    wizard.open()
    page = wizard.open(wizard.at(2)).page
    assert "Nothing here yet." in page


def test_a_cluster_without_projects_says_so(wizard: Wizard) -> None:
    empty = ClusterFactory(name="empty")
    page = wizard.open().press("save", cluster=str(empty.pk)).page
    assert "You have no projects on this cluster yet." in page
    assert "Select a cluster first." not in page


def test_a_new_asset_comes_back_chosen(wizard: Wizard, project: Project) -> None:
    wizard.ready()
    environment = EnvironmentFactory(home=project, name="brand-new")
    post = {GALLERY: str(environment.pk), "gallery": GALLERY}
    page = wizard.client.post(wizard.at(2), post, **HTMX).content.decode()
    assert f'id="{GALLERY}-gallery"' in page
    assert Inputs(page).values[GALLERY] == str(environment.pk)
    wizard.open(f"{wizard.at(2)}?environment={wizard.environment.pk}&slot=worker")
    assert wizard.full_address == wizard.at(2)
    assert wizard.open(f"{wizard.at(2)}?environment=junk&slot=worker").status == 200


def test_a_new_data_source_comes_back_as_an_item(wizard: Wizard, project: Project) -> None:
    """Made in the drawer, and on a page of its own without JavaScript."""
    page = wizard.ready().open(wizard.at(2)).page
    assert "+NEW DATA SOURCE" in page
    made = DataSourceFactory(home=project, name="brand-new")
    page = wizard.save(2, action=f"add:{SOURCES}={made.pk}")
    assert Inputs(page).values[f"{SOURCES}-0-id"] == str(made.pk)

    wizard.open(wizard.at(2)).press(f"remove:{SOURCES}:0").press("new:data-source:worker")
    assert wizard.full_address.startswith("/data-sources/new/?project=")
    for _ in range(2):
        wizard.open(f"{wizard.at(2)}?data-source={made.pk}&slot=worker")
        assert wizard.full_address == wizard.at(2)
    assert wizard.draft.content.worker.values["dataSources"] == [{"id": str(made.pk)}]


def test_the_projects_free_quota_is_shown(wizard: Wizard) -> None:
    wizard.ready("one").open(wizard.at(3)).press("create")
    Workload.objects.update(phase="Running")
    assert "1.7 of 2 virtual GPUs free" in wizard.open("/workloads/new/").page


def test_the_wizard_shows_what_is_free_of_a_department_that_caps(
    wizard: Wizard, project: Project
) -> None:
    department = project.department
    department.gpu_quota = 1
    department.over_quota = False
    department.save()
    other = ProjectFactory(cluster=project.cluster, department=department)
    WorkloadFactory(project=other, running=True, gpus=0.6)
    words = f"{department}, 0.4 of 1 virtual GPUs free"
    assert words in wizard.open("/workloads/new/").page


def test_the_wizard_says_where_gpus_are_virtual(wizard: Wizard) -> None:
    wizard.ready()
    for step in (1, 2, 3):
        page = wizard.open(wizard.at(step)).page
        assert "accounting units that run on the CPU" in page


@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_page_asks_the_database_a_fixed_number_of_times(
    wizard: Wizard,
    project: Project,
    step: int,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    wizard.ready()
    wizard.save(3, **{"master-different": "on"})
    for factory in (EnvironmentFactory, ComputeResourceFactory, TemplateFactory):
        factory.create_batch(50, home=project)
    with django_assert_max_num_queries(MOST_QUERIES):
        wizard.open(wizard.at(step))
    with django_assert_max_num_queries(MOST_QUERIES):
        wizard.save(step, name="other")
