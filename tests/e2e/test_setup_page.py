"""The first page of the wizard fits the screen of a laptop, whatever there is to choose from."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, ViewportSize, expect

from tests.product import Trainyard
from tests.workloads.nowhere import KUBECONFIG

pytestmark = [pytest.mark.e2e, pytest.mark.extended]
WIDE = ViewportSize(width=1440, height=900)
NARROW = ViewportSize(width=1280, height=900)
MORE = f"""
from assets.models import Template
from clusters.models import Cluster, Connection
from projects.models import Project
first = Project.objects.get(name="team-a")
place = dict(cluster=first.cluster, department=first.department)
Project.objects.bulk_create(Project(name=f"zz-{{number:02d}}", **place) for number in range(40))
for number in range(3):
    far = Cluster.objects.create(name=f"zz-{{number}}", kind="kubernetes")
    Connection.objects.create(cluster=far, secret_json={KUBECONFIG!r})
    text = "Learns to read digits. " * 4
    Template.objects.create(name=f"zz-{{number}}", description=text, scope="account")
"""
FEWER = """
from assets.models import Template
from clusters.models import Cluster
from projects.models import Project
for model in (Project, Cluster, Template):
    model.objects.filter(name__startswith="zz-").delete()
"""


@pytest.fixture
def many_of_all(running_trainyard: Trainyard) -> Iterator[None]:
    running_trainyard.manage("shell", "-c", MORE)
    yield
    running_trainyard.manage("shell", "-c", FEWER)


def beyond(page: Page) -> list[tuple[int, int]]:
    """How much of the page is beside and below the window, on a narrow laptop and on a wide one,
    where it does not fit."""
    return [over for screen in (NARROW, WIDE) if max(over := _over(page, screen)) > 0]


def _over(page: Page, screen: ViewportSize) -> tuple[int, int]:
    page.set_viewport_size(screen)
    wide, high = page.evaluate("""() => {
      const { scrollHeight, scrollWidth } = document.documentElement;
      return [scrollWidth - innerWidth, scrollHeight - innerHeight];
    }""")
    return wide, high


def open_setup(page: Page) -> None:
    page.set_viewport_size(WIDE)
    page.goto("/workloads/new/")
    page.get_by_role("radiogroup", name="Cluster").get_by_role("radio", name="local").check()
    page.get_by_role("radio", name="Distributed").check()
    expect(page.get_by_role("radiogroup", name="Framework")).to_be_visible()
    expect(page.locator(".htmx-request, .htmx-settling")).to_have_count(0)


def test_all_choices_of_the_first_page_fit_a_laptops_screen(admin_page: Page) -> None:
    page = admin_page
    open_setup(page)
    assert beyond(page) == []
    assert page.get_by_role("button", name="CONTINUE").is_visible()


def test_a_long_list_of_projects_scrolls_and_is_searched(
    many_of_all: None, admin_page: Page
) -> None:
    page = admin_page
    open_setup(page)
    assert beyond(page) == []
    projects = page.get_by_role("radiogroup", name="Project")
    expect(projects.get_by_role("radio")).to_have_count(41)
    page.get_by_label("Search projects").press_sequentially("zz-3")
    expect(projects.get_by_role("radio", name="zz-", exact=False)).to_have_count(10)
    projects.get_by_role("radio", name="zz-37").check()
    expect(page.locator(".htmx-request, .htmx-settling")).to_have_count(0)
    expect(projects.get_by_role("radio", name="zz-37")).to_be_checked()
    expect(projects.get_by_role("radio", name="zz-37")).to_be_in_viewport()
    assert beyond(page) == []


def test_a_long_list_opens_at_what_is_chosen_which_covers_no_other(
    many_of_all: None, admin_page: Page
) -> None:
    page = admin_page
    open_setup(page)
    last = page.get_by_role("radio", name="zz-39")
    last.check()
    expect(page.locator(".htmx-request, .htmx-settling")).to_have_count(0)
    page.reload()
    expect(last).to_be_checked()
    expect(last).to_be_in_viewport()
    page.locator("#project .cards").evaluate("list => list.scrollTo(0, 0)")
    expect(last).not_to_be_in_viewport()


def test_a_refused_name_among_many_of_everything_fits_too(
    many_of_all: None, admin_page: Page
) -> None:
    page = admin_page
    open_setup(page)
    expect(page.get_by_role("radiogroup", name="Cluster").get_by_role("radio")).to_have_count(4)
    page.get_by_role("radio", name="team-a").check()
    expect(page.get_by_role("radiogroup", name="Template").get_by_role("radio")).to_have_count(5)
    page.get_by_label("Name", exact=True).fill("Bad Name")
    page.get_by_label("Name", exact=True).press("Tab")
    expect(page.locator("#name-notes")).to_contain_text("must start with a letter")
    assert beyond(page) == []


def test_a_new_project_comes_back_chosen_with_the_draft_as_it_was(
    running_trainyard: Trainyard, admin_page: Page
) -> None:
    page = admin_page
    open_setup(page)
    page.get_by_label("Name", exact=True).fill("goes-on")
    saving: list[Route] = []

    def hold(route: Route) -> None:
        saving.append(route)  # the name is slow to be saved

    page.route("**/workloads/drafts/**", hold, times=1)
    page.get_by_role("button", name="+NEW PROJECT").click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_label("Project name").fill("zz-fresh")
    drawer.get_by_role("button", name="CREATE PROJECT").click()
    expect(drawer).to_be_hidden()
    [route] = saving
    route.continue_()
    fresh = page.get_by_role("radio", name="zz-fresh")
    expect(fresh).to_be_checked()
    expect(fresh).to_be_focused()
    expect(page.get_by_label("Name", exact=True)).to_have_value("goes-on")
    assert beyond(page) == []
    page.get_by_role("radio", name="team-a").check()
    running_trainyard.manage("shell", "-c", FEWER)
