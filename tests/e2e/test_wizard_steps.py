"""The steps of Run:ai's page on distributed training, in the wizard of this product."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.far import far
from tests.e2e.walk import begin, command, output
from tests.product import Trainyard

__all__ = ["far"]
pytestmark = [pytest.mark.e2e, pytest.mark.extended]
POOLED = """
from projects.models import Project
Project.objects.filter(name="vision").update(default_node_pools=["a100", "h100"])
"""
UNFOLD = "document.querySelectorAll('details.fold').forEach(it => { it.open = true })"


def workers(page: Page, name: str, cluster: str = "far", project: str = "vision") -> None:
    """To the second page, all of it open."""
    begin(page, name, cluster=cluster, project=project)
    page.evaluate(UNFOLD)


def choose(page: Page, *assets: str) -> None:
    for name in assets:
        page.get_by_role("radio", name=name, exact=True).check()


def summary(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Summary")


def set_up(page: Page, name: str) -> None:
    """Steps 1 to 8, each choice of them."""
    page.goto("/projects/")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Workloads").click()
    page.get_by_role("button", name="+NEW WORKLOAD").first.click()
    page.get_by_role("link", name="Training", exact=True).click()
    choose(page, "far")
    choose(page, "vision", "Distributed", "TensorFlow", "XG Boost", "MPI", "PyTorch")
    choose(page, "Workers only", "Workers & master", "Start from scratch")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="CONTINUE").click()


@pytest.mark.usefixtures("far")
def test_the_first_page(admin_page: Page) -> None:
    page = admin_page
    set_up(page, "once-only")
    page.wait_for_url("**/2/")
    expect(page.get_by_role("radio", name="jax", exact=True)).to_be_disabled()
    choose(page, "own-ids", "tiny")
    page.get_by_role("button", name="CREATE TRAINING").click()
    page.wait_for_url("**/workloads/")
    set_up(page, "once-only")
    expect(page.get_by_text("enter a different name").first).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_have_attribute("aria-invalid", "true")


@pytest.mark.usefixtures("far")
def test_a_tool_is_reached_and_opened_as_the_workload_says(admin_page: Page) -> None:
    page = admin_page
    workers(page, "with-tool")
    page.get_by_role("button", name="+TOOL", exact=True).click()
    tool = page.get_by_role("group", name="Tools 1")
    tool.get_by_label("Name", exact=True).fill("board")
    tool.get_by_label("Container port").fill("6006")
    tool.get_by_label("Connection type").select_option("External URL")
    tool.get_by_label("Custom URL").fill("https://board.apps.example.com")
    tool.get_by_label("Connection type").select_option("Node port")
    port = tool.get_by_label("Custom port")
    for number, invalid in (("29999", True), ("32768", True), ("30000", False)):
        port.fill(number)
        port.blur()
        expect(page.locator(f"#{port.get_attribute('id')}[aria-invalid=true]")).to_have_count(
            int(invalid)
        )


@pytest.mark.usefixtures("far")
def test_node_pools_are_dragged_moved_removed_and_reset(
    admin_page: Page, running_trainyard: Trainyard
) -> None:
    page = admin_page
    running_trainyard.manage("shell", "--command", POOLED)
    workers(page, "in-pools")
    pools = page.locator('select[name^="nodePools-"][name$="-item"]')
    grips = page.locator("#nodePools-rows .item-grip")

    def are(*names: str) -> None:
        """In this order, with the numbers by which their buttons are found."""
        expect(pools).to_have_count(len(names))
        for number, name in enumerate(names):
            expect(pools.nth(number)).to_have_attribute("name", f"nodePools-{number}-item")
            expect(pools.nth(number)).to_have_value(name)

    are("a100", "h100")
    grips.nth(1).drag_to(grips.nth(0))
    are("h100", "a100")
    page.get_by_role("button", name="Move down: node pools 1").click()
    are("a100", "h100")
    page.get_by_role("button", name="Remove node pools 1").click()
    are("h100")
    page.get_by_role("button", name="+NODE POOL").click()
    pools.nth(1).select_option("a100")
    are("h100", "a100")
    page.get_by_role("button", name="Reset to the project's default").click()
    are("a100", "h100")


@pytest.mark.usefixtures("far")
def test_tolerations_and_topology_are_asked_once_they_are_turned_on(admin_page: Page) -> None:
    page = admin_page
    workers(page, "switched")
    wizard = page.url
    for shown in (False, True):
        page.goto("/settings/")
        for name in ("Tolerations", "Topology"):
            page.get_by_role("checkbox", name=name).set_checked(shown)
        page.get_by_role("button", name="Save changes").click()
        page.goto(wizard)
        page.evaluate(UNFOLD)
        expect(page.get_by_role("button", name="+NODE POOL")).to_be_visible()
        for name in ("+TOLERATION", "+TOPOLOGY"):
            expect(page.get_by_role("button", name=name)).to_have_count(int(shown))


@pytest.mark.usefixtures("far")
def test_a_data_source_is_made_chosen_and_mounted_elsewhere(admin_page: Page) -> None:
    page = admin_page
    workers(page, "with-source")
    page.get_by_role("button", name="+NEW DATA SOURCE").click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_label("Type").select_option("NFS")
    drawer.get_by_label("Name", exact=True).fill("images")
    drawer.locator("#id_nfs_server").fill("nas.example.com")
    drawer.get_by_label("Path on the server").fill("/export")
    drawer.locator("#id_nfs_mountPath").fill("/data")
    drawer.get_by_role("button", name="CREATE DATA SOURCE").click()
    expect(drawer).to_be_hidden()
    source = page.get_by_role("group", name="Data source 1")
    chosen = source.get_by_label("Data source", exact=True)
    expect(chosen).to_be_focused()
    expect(chosen.locator("option:checked")).to_have_text("images (NFS at /data)")
    source.get_by_label("Container path").fill("/models")
    source.get_by_label("Container path").blur()
    expect(output(page, "yaml")).to_contain_text("mountPath: /models")


@pytest.mark.usefixtures("far")
def test_a_value_out_of_range_is_told_at_the_field_and_in_the_summary(admin_page: Page) -> None:
    page = admin_page
    workers(page, "out-of-range")
    grace, backoff = page.get_by_label("Grace period", exact=True), page.get_by_label("Backoff")
    grace.fill("301")
    backoff.fill("101")
    backoff.blur()
    for error in (
        "Grace period must be at most 300 seconds (5 min).",
        "Backoff limit must be at most 100.",
    ):
        expect(page.locator(".errorlist").get_by_text(error, exact=True)).to_have_count(1)
        expect(summary(page).get_by_role("link", name=error)).to_have_count(1)


@pytest.mark.usefixtures("far")
def test_the_master_is_set_up_as_the_workers_or_on_its_own(admin_page: Page) -> None:
    page = admin_page
    workers(page, "led")
    choose(page, "own-ids", "tiny")
    command(page).fill("python work.py")
    page.get_by_role("button", name="CONTINUE").click()
    page.wait_for_url("**/3/")
    body = output(page, "yaml")
    toggle = page.get_by_label("Define a different setup for the master")
    expect(toggle).not_to_be_checked()
    expect(body).not_to_contain_text("masterSpec")
    toggle.check()
    expect(page.get_by_role("button", name="+NEW ENVIRONMENT")).to_be_visible()
    page.evaluate(UNFOLD)
    for name in ("+NEW ENVIRONMENT", "+NEW COMPUTE RESOURCE", "+VOLUME", "+DATA SOURCE", "+LABEL"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()
    page.get_by_label("Command", exact=True).fill("python lead.py")
    page.get_by_label("Command", exact=True).blur()
    expect(body).to_contain_text("masterSpec")
    expect(body).to_contain_text("command: python lead.py")
    page.get_by_role("button", name="CREATE TRAINING").click()
    page.wait_for_url("**/workloads/")
    expect(page.locator("tr[data-phase]").filter(has_text="led")).to_have_count(1)
